-- finding_groups.sql: what several processes have in common, of one kind or, without one, of all measures.
SELECT
    finding_group_id,
    severity,
    site,
    sentence,
    count(*) OVER () AS all_count
FROM finding_group
WHERE CASE WHEN :kind IS NULL THEN kind NOT IN ('leak', 'misuse', 'out of memory') ELSE kind = :kind END
ORDER BY finding_group_id
LIMIT :most_count;
