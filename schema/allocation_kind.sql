-- How memory was asked for.

CREATE TABLE z_allocation_kind_sum (
    -- Allocations of one heap by kind of memory. Shown by the view z_allocation_kind.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- 1: mapped memory, whose policy is a code of z_memory_kind; 0: not.
    is_mapped INTEGER NOT NULL,
    -- As allocation.policy. NULL: not known.
    policy INTEGER,
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- Live at the end of the trace, segments and the baseline too. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    live_bytes INTEGER NOT NULL
);

CREATE VIEW z_allocation_kind (
    -- Which kinds of memory and pages each heap was asked for: device, physical and registered memory.
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
    -- Device memory: a word of z_malloc_policy and what else was asked for; physical and mapped memory: of z_memory_kind;
    -- registered memory: how. NULL: not known.
    kind,
    -- 1: mapped memory; 0: not.
    is_mapped,
    -- The number behind kind, as allocation.policy. NULL: not known.
    policy,
    -- Allocations in the trace, without the baseline. Unit: allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    allocated_bytes,
    -- Live at the end of the trace, segments and the baseline too. Unit: allocations.
    live_count,
    -- Their size. Unit: bytes.
    live_bytes
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    CASE
        WHEN s.policy IS NULL THEN NULL
        WHEN p.level = 'registered'
            THEN 'registered' || CASE WHEN s.policy & 2 THEN ' + mapped' ELSE '' END
            || CASE WHEN s.policy & 4 THEN ' + I/O memory' ELSE '' END
            || CASE WHEN s.policy & 8 THEN ' + read only' ELSE '' END
            || CASE WHEN s.policy & 268435456 THEN ' + pinned' ELSE '' END
        WHEN p.level = 'physical' OR s.is_mapped = 1
            THEN (SELECT k.name FROM z_memory_kind AS k WHERE k.kind = s.policy)
        ELSE
            (SELECT m.name FROM z_malloc_policy AS m WHERE m.policy = s.policy & 255)
            || CASE WHEN s.policy & 256 THEN ' + low bandwidth' ELSE '' END
            || CASE WHEN s.policy & 4096 THEN ' + high bandwidth' ELSE '' END
            || CASE WHEN s.policy & 1048576 THEN ' + read only' ELSE '' END
    END,
    s.is_mapped,
    s.policy,
    s.allocation_count,
    s.allocated_bytes,
    s.live_count,
    s.live_bytes
FROM z_allocation_kind_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
ORDER BY s.heap_id, s.allocated_bytes DESC, s.is_mapped, s.policy;
