-- plumbing_patterns.sql: what is never a site, in the order in which it was given.
SELECT
    target,
    pattern,
    origin
FROM plumbing
ORDER BY plumbing_id;
