-- next_facts.sql: what the commands at the end of the screen depend on. pool_count is of verdicts that another setting
-- of the pool may better; the path is of the only input.
SELECT
    (SELECT count(*) FROM leak_by_site) AS leak_count,
    (SELECT count(*) FROM out_of_memory WHERE outcome IS NOT 'recovered') AS fatal_count,
    (SELECT count(*) FROM misuse) AS misuse_count,
    (SELECT count(*) FROM completeness WHERE verdict NOT IN ('complete', 'begun', 'kept', 'contradictory')) AS lost_count,
    (
        SELECT count(*)
        FROM health AS h
        WHERE verdict IN ('warning', 'danger') AND (
            measure = 'pool hit rate' OR (
                measure = 'fragmentation' AND NOT EXISTS (
                    SELECT 1
                    FROM z_heap_place AS p
                    JOIN z_pool_effort AS e ON e.heap_id = p.heap_id
                    WHERE e.mapped_count > 0
                        AND p.pid IS h.pid
                        AND p.host IS h.host
                        AND p.device IS h.device
                        AND p.heap IS h.heap
                )
            )
        )
    ) + (SELECT count(*) FROM out_of_memory WHERE verdict = 'fragmentation') AS pool_count,
    (SELECT path FROM input WHERE path <> '-' AND (SELECT count(*) FROM input) = 1) AS input_path;
