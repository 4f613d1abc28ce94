-- Operations step by step.

CREATE TABLE z_operation_step_sum (
    -- What operations did to a heap in each step, those before the first step included: of each heap and step the 16
    -- with the most bytes, and one row of the rest. Of long runs the steps that z_step_stride says, and the last.
    --
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- The heap. NULL: workspaces of which the block is not known.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The step, by step.generation; 0: what was before the first step.
    generation INTEGER NOT NULL,
    -- Number of the step. NULL: before the first.
    number INTEGER,
    -- A code of operation_kind. NULL: all operations that have no row of their own.
    kind INTEGER REFERENCES operation_kind (kind),
    -- Name of the operation. NULL: it has none, or as kind.
    name TEXT,
    -- Names in this row. Unit: operations.
    name_count INTEGER NOT NULL,
    -- Allocations that came to the operation: new ones, or workspaces when it was the first to use them. Unit:
    -- allocations.
    allocation_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    allocated_bytes INTEGER NOT NULL,
    -- What of its allocations, of whatever step, ended. Unit: allocations.
    freed_count INTEGER NOT NULL,
    -- Its size. Unit: bytes.
    freed_bytes INTEGER NOT NULL,
    -- Runs that ended in the step and touched the heap. Unit: operations.
    measured_count INTEGER NOT NULL,
    -- Their largest peak over the start. Unit: bytes. NULL: there are none.
    max_rise_bytes INTEGER,
    -- Such runs in which events may be missing; not among measured_count. Unit: operations.
    doubtful_count INTEGER NOT NULL,
    -- Runs that began in the step and were given a workspace in the heap. Unit: operations.
    workspace_count INTEGER NOT NULL,
    -- Those workspaces. Unit: bytes.
    workspace_bytes INTEGER NOT NULL,
    -- The blocks that they lay in, once for each run. Unit: bytes. NULL: not known.
    workspace_block_bytes INTEGER
);
