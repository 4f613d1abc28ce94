-- What had leaked before memory ran out. Of several inputs each brings its own.

CREATE TEMP TABLE leaked_line AS
SELECT
    k.heap_id,
    s.site_frame_id,
    a.last_seq,
    sum(sum(k.leak_count * k.size_bytes)) OVER (
        PARTITION BY k.heap_id, s.site_frame_id ORDER BY a.last_seq
    ) AS leaked_bytes
FROM z_leaked_sum AS k
JOIN z_outstanding_sum AS a
    ON a.heap_id = k.heap_id
    AND a.stack_id IS k.stack_id
    AND a.size_bytes = k.size_bytes
    AND a.generation = k.generation
    AND a.is_doubtful = 0
LEFT JOIN stack AS s ON s.stack_id = k.stack_id
WHERE k.verdict IN ('growing', 'rising') AND a.last_seq IS NOT NULL
    AND EXISTS (SELECT 1 FROM z_out_of_memory_chain)
GROUP BY k.heap_id, s.site_frame_id, a.last_seq;

CREATE INDEX temp.leaked_line_place ON leaked_line (heap_id, site_frame_id, last_seq);

INSERT INTO z_out_of_memory_leak
SELECT
    g.out_of_memory_chain_id,
    g.heap_id,
    g.site_frame_id,
    g.leaked_bytes
FROM (
    SELECT
        c.out_of_memory_chain_id,
        k.heap_id,
        k.site_frame_id,
        (
            SELECT l.leaked_bytes
            FROM temp.leaked_line AS l
            WHERE l.heap_id = k.heap_id AND l.site_frame_id IS k.site_frame_id AND l.last_seq < c.first_seq
            ORDER BY l.last_seq DESC
            LIMIT 1
        ) AS leaked_bytes
    FROM z_out_of_memory_chain AS c
    JOIN heap AS h ON h.process_id = c.process_id AND h.device_id = c.device_id
    JOIN (SELECT DISTINCT heap_id, site_frame_id FROM temp.leaked_line) AS k ON k.heap_id = h.heap_id
    WHERE NOT EXISTS (SELECT 1 FROM z_out_of_memory_leak)
) AS g
WHERE g.leaked_bytes > 0;

DROP TABLE temp.leaked_line;
