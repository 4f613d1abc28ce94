-- Memory of a pool that the program had freed and that another stream still used, where it was much of the most that lived at once. Where
-- memory ran out for it, that is told already.
-- Only if: SELECT EXISTS (SELECT 1 FROM z_pool_sum WHERE max_pending_bytes >= (SELECT least FROM minimum WHERE judgement = 'pending memory'))
INSERT INTO finding (
    severity, kind, host, rank, pid, device, heap, level, site, verdict, basis, value, unit, bytes, count, seq, sentence, remedy, source_view
)
SELECT
    'warning',
    'pending memory',
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    (
        SELECT coalesce(f.label, '(no stack)')
        FROM z_pending_sum AS g
        LEFT JOIN stack AS k ON k.stack_id = g.stack_id
        LEFT JOIN frame AS f ON f.frame_id = k.site_frame_id
        WHERE g.heap_id = s.heap_id
        ORDER BY g.pending_bytes DESC, g.stack_id
        LIMIT 1
    ),
    'pending',
    CASE WHEN s.is_partial THEN 'bound' ELSE 'exact' END,
    CAST(s.max_pending_bytes AS REAL) / h.peak_bytes,
    'ratio',
    s.max_pending_bytes,
    s.pending_count,
    s.max_pending_seq,
    said(say('screen.pending', 'pending_bytes', s.max_pending_bytes, 'peak_bytes', h.peak_bytes)),
    said(say('screen.pending.remedy')),
    'pool_summary'
FROM z_pool_sum AS s
JOIN z_heap_sum AS h ON h.heap_id = s.heap_id
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
WHERE s.max_pending_bytes >= (SELECT least FROM minimum WHERE judgement = 'pending memory') AND s.max_pending_bytes * 10 >= h.peak_bytes
    AND NOT EXISTS (SELECT 1 FROM z_early_free AS e WHERE e.heap_id = s.heap_id)
    AND NOT EXISTS (
        SELECT 1
        FROM finding AS f
        WHERE f.kind = 'out of memory' AND f.verdict = 'other-stream' AND f.host IS p.host AND f.pid IS p.pid AND f.device IS p.device
    )
ORDER BY s.max_pending_bytes DESC, s.heap_id;
