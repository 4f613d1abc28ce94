-- What models took.

CREATE TABLE z_operation_sum (
    -- Runs of one name in one process, and their workspaces.
    --
    -- The process. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- A code of operation_kind.
    kind INTEGER NOT NULL REFERENCES operation_kind (kind),
    -- Name. NULL: it has none.
    name TEXT,
    -- Runs that began in the trace. Unit: operations.
    run_count INTEGER NOT NULL,
    -- Time from begin to end of the runs that ended. Unit: nanoseconds. NULL: not known of any.
    duration_ns INTEGER,
    -- Runs that returned an error. Unit: operations.
    error_count INTEGER NOT NULL,
    -- Runs that were given a workspace. Unit: operations.
    workspace_count INTEGER NOT NULL,
    -- The workspaces of all runs. Unit: bytes.
    requested_bytes INTEGER NOT NULL,
    -- The largest of them. Unit: bytes.
    max_requested_bytes INTEGER NOT NULL,
    -- The largest block that one of them lay in. Unit: bytes. NULL: no block is known.
    max_block_bytes INTEGER,
    -- Runs in a block that had served an operator before. Unit: operations.
    reused_count INTEGER NOT NULL,
    -- The heap of those blocks. NULL: none is known, or there are several.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Blocks that workspaces of the runs lay in, where the block is known; once for each run. Unit: bytes.
    block_bytes INTEGER NOT NULL,
    -- The workspaces of those runs. Unit: bytes.
    block_requested_bytes INTEGER NOT NULL
);

CREATE VIEW model_memory (
    -- Device memory by model: what the driver gave while each offline model was loaded and run, and how much of it was given back;
    -- most first. What operators and other ranges inside took is theirs, and memory that the program itself gave to a load
    -- (aclmdlLoadFromFileWithMem and its kin) is the program's: view operation_memory.
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
    -- Name of the heap: the program's own driver memory, that of a module of CANN, or physical memory.
    heap,
    -- 'driver' or 'physical'.
    level,
    -- Name of the model: its file's; 'unnamed model' and which one it was, when it came from memory or with a configuration;
    -- 'model' and the runtime's number, when its load was not recorded. NULL: it has none.
    model,
    -- Loads of that name that began in the trace and did not fail; of a file of several models, one. Unit: operations.
    load_count,
    -- Likewise unloads. Unit: operations.
    unload_count,
    -- Runs of the model that began in the trace. Unit: operations.
    run_count,
    -- Driver allocations in all these, segments of pools too. Unit: allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    allocated_bytes,
    -- What of it came while it was loaded: weights, and a workspace that is there from the start. Unit: bytes.
    load_bytes,
    -- What of allocated_bytes was given back, whenever that was. Unit: bytes.
    freed_bytes,
    -- What of that was given back by the unload of a model. Unit: bytes.
    unload_freed_bytes,
    -- What the model still held at the end, unloaded or not. Unit: bytes.
    held_bytes,
    -- The most that the heap rose in one load or run above what it held when that began. Unit: bytes. NULL: none was measured.
    peak_over_start_bytes
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    s.name,
    coalesce((
        SELECT sum(o.run_count - o.error_count)
        FROM z_operation_sum AS o
        WHERE o.process_id IS p.process_id AND o.kind = 6 AND o.name IS s.name
    ), 0),
    coalesce((
        SELECT sum(o.run_count - o.error_count)
        FROM z_operation_sum AS o
        WHERE o.process_id IS p.process_id AND o.kind = 7 AND o.name IS s.name
    ), 0),
    coalesce((
        SELECT sum(o.run_count)
        FROM z_operation_sum AS o
        WHERE o.process_id IS p.process_id AND o.kind = 3 AND o.name IS s.name
    ), 0),
    sum(s.allocation_count),
    sum(s.allocated_bytes),
    sum(CASE WHEN s.kind = 6 THEN s.allocated_bytes ELSE 0 END),
    sum(s.freed_bytes),
    sum(s.unloaded_bytes),
    sum(s.allocated_bytes - s.freed_bytes),
    max(s.max_rise_bytes)
FROM z_operation_memory_sum AS s
JOIN z_heap_place AS p ON p.heap_id = s.heap_id
WHERE s.kind IN (3, 6, 7) AND p.level IN ('driver', 'physical')
GROUP BY s.heap_id, s.name
ORDER BY sum(s.allocated_bytes - s.freed_bytes) DESC, sum(s.allocated_bytes) DESC, s.heap_id, s.name;
