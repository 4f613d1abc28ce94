-- What each judgement rests on, whatever came of it.
DELETE FROM evidence;
INSERT INTO evidence
WITH
    seen AS (
        SELECT
            sum(t.allocation_count) AS birth_count,
            sum(CASE WHEN h.level = 2 THEN t.allocation_count END) AS pool_count,
            sum(CASE WHEN h.level = 2 AND t.reserved_source IS NOT NULL THEN t.allocation_count END) AS reserved_count,
            min(CASE WHEN t.allocation_count > 0 THEN coalesce(w.step_count - w.warm_up_count, 0) END) AS step_count,
            1.0 * sum(CASE WHEN h.level NOT IN (1, 7) THEN t.outstanding_bytes END) / nullif(sum(CASE WHEN h.level NOT IN (1, 7) THEN t.live_bytes END), 0) AS born_ratio
        FROM z_heap_sum AS t
        JOIN heap AS h ON h.heap_id = t.heap_id
        LEFT JOIN z_warm_up AS w ON w.process_id = h.process_id
    ),
    open_site AS (
        SELECT host, rank, pid, device, heap, level, site FROM suspect_by_site WHERE verdict = 'not judged'
        UNION
        SELECT host, rank, pid, device, heap, level, site FROM finding WHERE kind = 'leak' AND reason = 'not seen to end'
    )
SELECT
    m.judgement,
    (SELECT f.severity FROM finding AS f WHERE f.kind = m.judgement ORDER BY f.finding_id LIMIT 1),
    coalesce(
        CASE m.judgement
            WHEN 'leak' THEN s.birth_count
            WHEN 'cache growth' THEN s.pool_count
            WHEN 'fragmentation' THEN s.reserved_count
            WHEN 'pool hit rate' THEN (SELECT sum(f.count) FROM finding AS f WHERE f.kind = m.judgement)
            WHEN 'host growth' THEN (SELECT count(*) FROM memory_sample AS k WHERE k.kind = 101 AND k.device_id IS NULL)
            ELSE r.event_count
        END,
        0
    ),
    CASE WHEN m.judgement IN ('leak', 'pool hit rate') THEN coalesce(s.step_count, 0) END,
    CASE WHEN m.judgement = 'leak' THEN s.born_ratio END,
    CASE WHEN m.judgement = 'leak' THEN (SELECT count(*) FROM open_site) END
FROM minimum AS m
JOIN seen AS s
JOIN temp.said_run AS r
WHERE m.judgement IN ('leak', 'cache growth', 'fragmentation', 'pool hit rate', 'out of memory', 'misuse', 'host growth');
