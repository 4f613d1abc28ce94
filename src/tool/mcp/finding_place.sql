-- finding_place.sql: where a finding leads to.
SELECT
    site,
    stack_id,
    source_view
FROM finding
WHERE finding_id = :finding_id;
