-- listed_groups.sql: what several processes have in common, of a :kind and a :severity or of all.
SELECT
    finding_group_id,
    substr(sentence, 3, instr(substr(sentence, 3), '"') - 1) AS code,
    severity,
    kind,
    text,
    site,
    verdict,
    holder_count,
    all_count,
    total_bytes,
    total_count,
    worst_rank
FROM finding_group
WHERE (:kind IS NULL OR kind = :kind)
    AND (:severity IS NULL OR severity = :severity)
ORDER BY finding_group_id;
