-- Memory that a pool keeps for streams that ask for nothing any more (z_idle_stream): no request of another stream is served from it.
-- Only if: SELECT EXISTS (SELECT 1 FROM z_pool_group WHERE since_count >= 4 AND stream IS NOT NULL)
INSERT INTO finding (
    severity, kind, host, rank, pid, device, heap, level, verdict, basis, value, unit, bytes, count, moment, seq, sentence, remedy,
    source_view
)
WITH
    held AS (
        SELECT
            q.heap_id AS heap_id,
            m.seq AS seq,
            k.name AS moment,
            sum(w.reserved_bytes) AS reserved_bytes,
            sum(w.free_bytes) AS free_bytes,
            sum(CASE WHEN i.heap_id IS NOT NULL THEN w.free_bytes END) AS idle_bytes,
            count(DISTINCT CASE WHEN w.free_bytes > 0 THEN i.stream END) AS stream_count
        FROM moment AS m
        JOIN z_moment_kind AS k ON k.kind = m.kind
        JOIN z_part_sample AS w ON w.moment_id = m.moment_id
        JOIN z_pool_part AS q ON q.part_id = w.part_id
        LEFT JOIN z_idle_stream AS i ON i.heap_id = q.heap_id AND i.stream = q.stream AND (i.last_seq <= m.seq OR i.last_seq IS NULL)
        WHERE k.name IN ('device peak', 'reserve', 'end')
        GROUP BY q.heap_id, m.moment_id
    ),
    worst AS (
        SELECT
            heap_id,
            seq,
            moment,
            reserved_bytes,
            free_bytes,
            idle_bytes,
            stream_count,
            row_number() OVER (PARTITION BY heap_id ORDER BY idle_bytes DESC, moment) AS place
        FROM held
        WHERE idle_bytes >= (SELECT least FROM minimum WHERE judgement = 'idle streams') AND idle_bytes * 10 >= reserved_bytes
    )
SELECT
    'warning',
    'idle streams',
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    'idle',
    CASE WHEN s.is_partial THEN 'bound' ELSE 'exact' END,
    CAST(w.idle_bytes AS REAL) / w.reserved_bytes,
    'ratio',
    w.idle_bytes,
    w.stream_count,
    w.moment,
    w.seq,
    said(
        say('screen.idle', 'free_bytes', w.free_bytes, 'reserved_bytes', w.reserved_bytes),
        say('screen.idle.streams', 'idle_bytes', w.idle_bytes, 'n', w.stream_count)
    ),
    said(say('screen.idle.remedy')),
    'device_memory'
FROM worst AS w
JOIN z_pool_sum AS s ON s.heap_id = w.heap_id
JOIN z_heap_place AS p ON p.heap_id = w.heap_id
WHERE w.place = 1
ORDER BY w.idle_bytes DESC, w.heap_id;
