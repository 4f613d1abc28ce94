-- check_unjudged.sql: what keeps growth and leaks from being judged.
SELECT
    (
        SELECT count(*)
        FROM (SELECT process_id FROM step GROUP BY process_id HAVING max(generation) < 3)
    ) AS few_step_count,
    coalesce(sum(reason = 'no steps'), 0) AS stepless_count,
    coalesce(sum(reason = 'stack cut'), 0) AS cut_count
FROM suspect_by_site;
