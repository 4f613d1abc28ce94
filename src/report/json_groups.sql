-- json_groups.sql: what several processes have in common, of a kind, of a severity or with a text in its site's label where these are given.
SELECT
    finding_group_id,
    severity,
    kind,
    site,
    verdict,
    holder_count,
    all_count AS member_count,
    total_bytes,
    total_count,
    least_amount AS least_value,
    median_amount AS median_value,
    most_amount AS most_value,
    worst_rank AS rank,
    worst_pid AS pid,
    worst_host AS host,
    sentence,
    CASE
        WHEN kind = 'leak' THEN 'bytes'
        WHEN kind IN ('misuse', 'out of memory', 'object leak') THEN 'count'
        ELSE (SELECT min(f.unit) FROM finding AS f WHERE f.kind = finding_group.kind)
    END AS unit
FROM finding_group
WHERE (:kind IS NULL OR kind = :kind)
    AND (:severity IS NULL OR severity = :severity)
    AND (:site IS NULL OR instr(site, :site) > 0)
ORDER BY finding_group_id;
