-- Sums of the large tables that answers are made of, so that they do not depend on the rows; and which rows were left out.

CREATE TABLE z_outstanding_sum (
    -- What was allocated in the recording and not freed by its end, segments and the baseline left out: allocations of one
    -- heap, stack, size, generation and graph. Shown by the view outstanding_by_site.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Size of each. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- As allocation.generation.
    generation INTEGER NOT NULL,
    -- As allocation.is_doubtful.
    is_doubtful INTEGER NOT NULL,
    -- Allocations. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Birth of the first in the order of events, of those after input.detail_begin_seq. NULL: there are none.
    first_seq INTEGER,
    -- Birth of the last in the order of events. NULL: before input.detail_begin_seq.
    last_seq INTEGER,
    -- Birth of the oldest. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns INTEGER,
    -- How many of them had lived longer, at the end of the process (or, where that was not seen, at the last event of its
    -- memory), than 99 % of the freed blocks of their site did. Unit: allocations. NULL: none was freed, or times are
    -- unknown.
    outlier_count INTEGER,
    -- The graph that held them at the end of the trace, or until a last reset ended both. NULL: none.
    graph_id INTEGER REFERENCES z_graph (graph_id),
    -- 1: they are in a private pool of the framework, as a snapshot says: graphs have such; 0: not known of them.
    is_private INTEGER NOT NULL
);

CREATE TABLE z_leaked_sum (
    -- How many of the allocations of a row of z_outstanding_sum are called a leak, and why. Of a site that grows what was
    -- there before the first step is none; and of what was born in the first step no more than are born of the like in a
    -- later one: weights and state are made then. Shown by the view leak.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Size of each. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- As allocation.generation.
    generation INTEGER NOT NULL,
    -- 'growing', 'rising' or 'unreleased'.
    verdict TEXT NOT NULL,
    -- Leaked allocations: the youngest of them. Unit: allocations.
    leak_count INTEGER NOT NULL
);

CREATE TABLE z_leak_sum (
    -- Sums of z_leaked_sum by site and verdict. Shown by the view leak_by_site.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- 'growing', 'rising' or 'unreleased'.
    verdict TEXT NOT NULL,
    -- Allocations. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- In how many generations they were born. Unit: generations.
    generation_count INTEGER NOT NULL,
    -- The first of those.
    first_generation INTEGER NOT NULL,
    -- The last of those.
    last_generation INTEGER NOT NULL,
    -- Birth of the first in the order of events, of those after input.detail_begin_seq. NULL: there are none.
    first_seq INTEGER,
    -- Birth of the last in the order of events. NULL: before input.detail_begin_seq.
    last_seq INTEGER,
    -- Birth of the oldest. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns INTEGER,
    -- End of the process or, where that was not seen, the last event of its memory. Unit: nanoseconds since the recording
    -- began. NULL: not known.
    end_ns INTEGER,
    -- As z_outstanding_sum.outlier_count. Unit: allocations. NULL: as there.
    outlier_count INTEGER
);

CREATE TABLE z_left_out (
    -- Inputs of which rows of large tables were left out (npumem-ingest --detail live or none). A number in another table,
    -- as anomaly.allocation_id, may then be that of a row that is not here. An input with all its rows is not in this table.
    --
    -- The input.
    input_id INTEGER PRIMARY KEY REFERENCES input (input_id),
    -- Number of its last allocation, here or not. NULL: it has none.
    last_allocation_id INTEGER REFERENCES allocation (allocation_id),
    -- Number of its last copy, here or not. NULL: it has none.
    last_copy_id INTEGER REFERENCES copy (copy_id),
    -- Number of its last operation, here or not. NULL: it has none.
    last_operation_id INTEGER REFERENCES operation (operation_id),
    -- Number of its last workspace, here or not. NULL: it has none.
    last_workspace_id INTEGER REFERENCES workspace (workspace_id),
    -- Number of its last call about streams, here or not. NULL: it has none.
    last_stream_call_id INTEGER REFERENCES z_stream_call (stream_call_id),
    -- Allocations of it that are not here. Unit: allocations.
    allocation_count INTEGER NOT NULL
);
