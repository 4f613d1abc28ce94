-- What the memory of a device was made of, with what a pool holds parted by what it is good for.

CREATE TABLE z_memory_part (
    -- Words for device_part.part.
    --
    -- Code; they are tried in this order.
    part INTEGER PRIMARY KEY,
    -- Its name.
    name TEXT NOT NULL
);
INSERT INTO z_memory_part VALUES
    (1, 'used'), (2, 'pending'), (3, 'new'), (4, 'private'), (5, 'idle'), (6, 'empty'), (7, 'small'), (8, 'pinned'), (9, 'free'), (10, 'whole');

CREATE VIEW z_idle_stream (
    -- Streams that ask a pool for nothing any more: silent for more than twice as long as ever between two of their requests, and
    -- for 4 at least, counted in requests of the pool.
    --
    -- begin place
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device. NULL: host memory.
    device,
    -- Name of the heap.
    heap,
    -- Level of the heap.
    level,
    -- end place
    -- The stream.
    stream,
    -- Place of its last request in the order of events. NULL: there was none, or it was before the first event.
    last_seq,
    -- The pool's heap.
    heap_id
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    g.stream,
    max(g.last_seq),
    g.heap_id
FROM z_pool_group AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
WHERE g.stream IS NOT NULL
GROUP BY g.heap_id, g.stream
HAVING min(g.since_count) >= 4 AND min(g.since_count) > 2 * max(g.max_gap_count);

-- catalog: first 7, not counted
CREATE VIEW device_part (
    -- What the memory of each device was made of at each moment, as view device_memory, but with what a pool holds parted by what
    -- it is good for: its rows of a moment but DEVICE USED add up to that, where the device was asked. What is 0 has no row.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device.
    device,
    -- Name of the pool. NULL: the component is no single heap.
    heap,
    -- 'pool', 'workspace', 'driver' or 'physical'.
    level,
    -- 'peak' and 'reserve' (of moment_heap), 'device peak', 'end', 'failure', or the text of the mark.
    moment,
    -- What kind of moment it is: 'peak', 'reserve', 'device peak', 'end', 'mark', 'failure'.
    moment_kind,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- As in view device_memory.
    component,
    -- Of a pool: 'used': blocks that the program holds; 'pending': blocks that it has given up, and that another stream still
    -- uses; 'new': memory of the driver that came since the pool last served a request, for the one that it serves; 'private': segments of private pools (graphs), with all that is in them; 'idle': free in segments of streams that ask
    -- for nothing any more; 'empty': segments without a block, which emptying the cache gives back; 'small': free between blocks
    -- of segments for small ones; 'pinned': free between blocks of other segments; 'free': free, where is not known at this
    -- moment. Of all else 'whole'.
    part,
    -- Its size. Unit: bytes.
    bytes,
    -- 1: not certain, as in view device_memory; 0: exact.
    is_estimate,
    -- The heap whose peak it is, that held most, or that failed. NULL: none.
    moment_heap,
    -- Number of the moment.
    moment_id
) AS
SELECT *
FROM (
    SELECT
        d.host, d.rank, d.pid, d.device, d.heap, d.level, d.moment, d.moment_kind, d.seq, d.ns, d.component,
        w.name,
        CASE w.name
            WHEN 'whole' THEN d.bytes
            -- A snapshot's list of its end knows what blocks were given, where their births tell what was asked for.
            WHEN 'used' THEN coalesce(max(0, d.bytes - c.cut_bytes - coalesce(d.pending_bytes, 0)), d.used_bytes)
            WHEN 'pending' THEN min(d.pending_bytes, coalesce(d.bytes - c.cut_bytes, d.pending_bytes))
            WHEN 'new' THEN min(d.new_bytes, coalesce(c.empty_bytes + c.pinned_bytes, d.free_bytes))
            WHEN 'private' THEN c.private_bytes
            WHEN 'idle' THEN c.idle_bytes
            WHEN 'empty' THEN max(0, c.empty_bytes - d.new_bytes)
            WHEN 'small' THEN c.small_bytes
            WHEN 'pinned' THEN c.pinned_bytes - min(c.pinned_bytes, max(0, d.new_bytes - c.empty_bytes))
            WHEN 'free' THEN CASE WHEN c.heap_id IS NULL THEN d.free_bytes - d.new_bytes END
        END AS part_bytes,
        d.is_estimate, d.moment_heap, d.moment_id
    FROM device_memory AS d
    LEFT JOIN (
        -- Private pools have all that is in their segments; of the others what is free counts, of streams that ask for nothing any
        -- more all, else what is in segments without a block, and the rest by the kind of segment.
        SELECT
            k.moment_id AS moment_id,
            k.heap_id AS heap_id,
            sum(CASE WHEN k.place = 1 THEN k.reserved_bytes ELSE 0 END) AS private_bytes,
            sum(CASE WHEN k.place = 1 THEN k.reserved_bytes ELSE k.free_bytes END) AS cut_bytes,
            sum(CASE WHEN k.place = 2 THEN k.free_bytes ELSE 0 END) AS idle_bytes,
            sum(CASE WHEN k.place > 2 THEN k.free_bytes - k.stuck_bytes ELSE 0 END) AS empty_bytes,
            sum(CASE WHEN k.place = 3 THEN k.stuck_bytes ELSE 0 END) AS small_bytes,
            sum(CASE WHEN k.place = 4 THEN k.stuck_bytes ELSE 0 END) AS pinned_bytes
        FROM (
            SELECT
                w.moment_id AS moment_id,
                q.heap_id AS heap_id,
                w.reserved_bytes AS reserved_bytes,
                w.free_bytes AS free_bytes,
                w.stuck_bytes AS stuck_bytes,
                CASE
                    WHEN q.private_pool IS NOT NULL THEN 1
                    WHEN i.heap_id IS NOT NULL THEN 2
                    WHEN q.segment_kind = 1 THEN 3
                    ELSE 4
                END AS place
            FROM z_part_sample AS w
            JOIN z_pool_part AS q ON q.part_id = w.part_id
            JOIN moment AS m ON m.moment_id = w.moment_id
            LEFT JOIN z_idle_stream AS i ON i.heap_id = q.heap_id AND i.stream = q.stream AND (i.last_seq <= m.seq OR i.last_seq IS NULL)
        ) AS k
        GROUP BY k.moment_id, k.heap_id
    ) AS c ON c.moment_id = d.moment_id AND c.heap_id = d.heap_id
    JOIN z_memory_part AS w ON (w.name = 'whole') = (d.used_bytes IS NULL)
)
WHERE part_bytes <> 0;
