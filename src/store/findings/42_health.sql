-- Pools that mapped memory of their own.
CREATE TEMP TABLE said_mapped AS
SELECT DISTINCT
    p.host AS host,
    p.pid AS pid,
    p.device AS device,
    p.heap AS heap
FROM z_heap_place AS p
JOIN z_pool_effort AS e ON e.heap_id = p.heap_id
WHERE e.mapped_count > 0;
CREATE INDEX temp.said_mapped_of ON said_mapped (pid, device, heap, host);

-- What was reserved at most without what lived at most.
CREATE TEMP TABLE said_spare AS
SELECT
    p.host AS host,
    p.rank AS rank,
    p.pid AS pid,
    p.device AS device,
    p.heap AS heap,
    p.level AS level,
    max(s.peak_reserved_bytes - s.peak_bytes) AS most_bytes
FROM z_heap_place AS p
JOIN z_heap_sum AS s ON s.heap_id = p.heap_id
WHERE s.peak_reserved_bytes >= s.peak_bytes
GROUP BY p.host, p.rank, p.pid, p.device, p.heap, p.level;
CREATE INDEX temp.said_spare_of ON said_spare (pid, rank, device, heap, level, host);
CREATE INDEX temp.said_reserved_of ON said_reserved (pid, rank, device, heap, level, moment, host);

-- What they say, the worst first.
INSERT INTO finding (
    severity, kind, reason, host, rank, pid, device, heap, level, verdict, basis, value, unit, bytes, count, moment, sentence, evidence,
    next_command, source_view
)
WITH
    -- What streams that ask for nothing any more kept when a pool held most: no setting gives that to others (44_idle_streams.sql).
    idle AS (
        SELECT
            i.host AS host,
            i.rank AS rank,
            i.pid AS pid,
            i.device AS device,
            i.heap AS heap,
            i.level AS level,
            sum(w.free_bytes) AS idle_bytes
        FROM moment AS m
        JOIN z_part_sample AS w ON w.moment_id = m.moment_id
        JOIN z_pool_part AS q ON q.part_id = w.part_id
        JOIN z_idle_stream AS i ON i.heap_id = q.heap_id AND i.stream = q.stream AND (i.last_seq <= m.seq OR i.last_seq IS NULL)
        WHERE m.kind = 6
        GROUP BY i.host, i.rank, i.pid, i.device, i.heap, i.level
    )
SELECT
    CASE h.verdict WHEN 'danger' THEN 'fault' WHEN 'unknown' THEN 'not judged' ELSE h.verdict END,
    h.measure,
    h.reason,
    h.host,
    h.rank,
    h.pid,
    h.device,
    h.heap,
    h.level,
    h.verdict,
    CASE WHEN f.is_bound THEN 'bound' ELSE 'exact' END,
    h.value,
    h.unit,
    CASE WHEN h.measure IN ('fragmentation', 'zero copy') THEN h.amount END,
    CASE WHEN h.measure = 'pool hit rate' THEN h.amount END,
    h.moment,
    CASE
        WHEN h.verdict = 'unknown' THEN said(say(w.code))
        WHEN h.verdict = 'good' AND h.measure = 'allocation cost'
            THEN said(say('screen.fine.measure', '=measure', said(say(w.code)), '=value', said(say('screen.each', 'each_cost_ns', h.value))))
        WHEN h.verdict = 'good'
            THEN said(
                say(
                    'screen.fine.measure',
                    '=measure', said(say(w.code)),
                    '=value', said(say(CASE h.measure WHEN 'pool hit rate' THEN 'screen.share_warm' ELSE 'screen.share' END, 'ratio', h.value))
                )
            )
        WHEN h.measure = 'fragmentation' AND h.verdict = 'minor'
            THEN said(
                say(
                    'screen.minor.fragmented',
                    '=share', said(say(CASE WHEN f.is_bound THEN 'screen.at_most' ELSE 'screen.share' END, 'ratio', h.value)),
                    'reserved_bytes', f.reserved_bytes
                )
            )
        WHEN h.measure = 'fragmentation'
            THEN said(
                say(
                    CASE h.moment
                        WHEN 'growth' THEN 'screen.fragmented.growth'
                        WHEN 'failure' THEN 'screen.fragmented.failure'
                        WHEN 'end' THEN 'screen.fragmented.end'
                        WHEN 'reserve' THEN 'screen.fragmented.reserve'
                        ELSE 'screen.fragmented.peak'
                    END,
                    '=share', said(say(CASE WHEN f.is_bound THEN 'screen.at_least' ELSE 'screen.share' END, 'ratio', h.value)),
                    'unused_bytes', h.amount,
                    'reserved_bytes', f.reserved_bytes
                ),
                CASE WHEN h.moment = 'growth' AND x.most_bytes < h.amount THEN say('screen.fragmented.most', 'most_bytes', x.most_bytes) END,
                CASE
                    WHEN e.heap IS NOT NULL OR h.moment = 'end' THEN NULL
                    WHEN m.heap IS NULL THEN say('screen.fragmented.try')
                    ELSE say('screen.fragmented.mapped')
                END
            )
        WHEN h.measure = 'pool hit rate' AND h.verdict = 'minor' THEN said(say('screen.minor.misses', 'ratio', h.value))
        WHEN h.measure = 'pool hit rate'
            THEN said(
                say(
                    'screen.misses',
                    'ratio', h.value,
                    'n', CAST((1 - h.value) * h.amount + 0.5 AS INTEGER),
                    'all', h.amount
                )
            )
        WHEN h.measure = 'allocation cost' AND h.verdict = 'minor' THEN said(say('screen.minor.cost', 'each_cost_ns', h.value))
        WHEN h.measure = 'allocation cost'
            THEN said(say('screen.cost', 'each_cost_ns', h.value, 'all_cost_ns', h.amount))
        WHEN h.verdict = 'minor' THEN said(say('screen.minor.zero_copy', 'ratio', h.value))
        ELSE said(say('screen.zero_copy', 'ratio', h.value, 'copied_bytes', h.amount))
    END,
    CASE
        WHEN h.verdict = 'unknown' THEN said(said_line(NULL, say(coalesce(r.code, 'screen.reason.warm_up'))))
        WHEN h.verdict <> 'good' THEN NULL
        WHEN h.measure = 'pool hit rate' THEN said(said_line(NULL, say('screen.rests.requests', 'n', h.amount)))
        WHEN h.measure = 'allocation cost' THEN said(said_line(NULL, say('screen.rests.cost', 'all_cost_ns', h.amount)))
        WHEN h.measure = 'fragmentation' THEN said(said_line(NULL, say('screen.rests.unused', 'unused_bytes', h.amount)))
    END,
    CASE
        WHEN h.verdict IN ('warning', 'danger') AND (h.measure = 'pool hit rate' OR (h.measure = 'fragmentation' AND m.heap IS NULL AND e.heap IS NULL AND h.moment <> 'end'))
            THEN command('screen.next.whatif')
    END,
    'health'
FROM temp.said_measure AS h
JOIN temp.said_word AS w ON w.topic = 'measure' AND w.word = h.measure
LEFT JOIN temp.said_word AS r ON r.topic = 'reason' AND r.word = h.reason
LEFT JOIN temp.said_mapped AS m ON m.host IS h.host AND m.pid IS h.pid AND m.device IS h.device AND m.heap IS h.heap
LEFT JOIN temp.said_spare AS x
    ON x.host IS h.host AND x.rank IS h.rank AND x.pid IS h.pid AND x.device IS h.device AND x.heap IS h.heap AND x.level IS h.level
LEFT JOIN idle AS e
    ON h.measure = 'fragmentation'
        AND h.moment = 'reserve'
        AND e.idle_bytes * 2 >= h.amount
        AND e.host IS h.host
        AND e.rank IS h.rank
        AND e.pid IS h.pid
        AND e.device IS h.device
        AND e.heap IS h.heap
        AND e.level IS h.level
LEFT JOIN temp.said_reserved AS f
    ON h.measure = 'fragmentation'
        AND f.host IS h.host
        AND f.rank IS h.rank
        AND f.pid IS h.pid
        AND f.device IS h.device
        AND f.heap IS h.heap
        AND f.level IS h.level
        AND f.moment = h.moment
ORDER BY
    CASE h.verdict WHEN 'danger' THEN 0 WHEN 'warning' THEN 1 WHEN 'minor' THEN 2 WHEN 'good' THEN 3 ELSE 4 END,
    CASE h.measure WHEN 'fragmentation' THEN 0 WHEN 'pool hit rate' THEN 1 WHEN 'allocation cost' THEN 2 ELSE 3 END,
    abs(h.value - CASE h.measure WHEN 'pool hit rate' THEN 1 WHEN 'zero copy' THEN 1 ELSE 0 END) DESC,
    h.rank,
    h.pid,
    h.heap;
DROP TABLE temp.said_measure;
DROP TABLE temp.said_reserved;
DROP TABLE temp.said_mapped;
DROP TABLE temp.said_spare;
