-- What is still there at the end, by site.

CREATE TABLE z_outstanding_sum (
    -- What was allocated in the recording and not freed by its end, segments and the baseline left out: allocations of one
    -- heap, stack, size, generation and graph.
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
    -- The graph that held them at the end of the trace, or until a last reset ended both. NULL: none.
    graph_id INTEGER REFERENCES z_graph (graph_id),
    -- 1: they are in a private pool of the framework, as a snapshot says: graphs have such; 0: not known of them.
    is_private INTEGER NOT NULL
);

CREATE TABLE z_outstanding_birth (
    -- The same, of all sizes. Shown by the view outstanding_by_site.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- As allocation.generation.
    generation INTEGER NOT NULL,
    -- As allocation.is_doubtful.
    is_doubtful INTEGER NOT NULL,
    -- Allocations. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- Birth of the first in the order of events, of those after input.detail_begin_seq. NULL: there are none.
    first_seq INTEGER,
    -- Birth of the last in the order of events. NULL: before input.detail_begin_seq.
    last_seq INTEGER,
    -- Birth of the oldest. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns INTEGER,
    -- As z_outstanding_sum.graph_id. NULL: none.
    graph_id INTEGER REFERENCES z_graph (graph_id),
    -- As z_outstanding_sum.is_private.
    is_private INTEGER NOT NULL
);

-- catalog: first 13
CREATE VIEW outstanding_by_site (
    -- The same, summed by site; largest first.
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
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- Outstanding allocations of the site. Unit: allocations.
    allocation_count,
    -- Their size. Unit: bytes.
    size_bytes,
    -- Birth of the first in the order of events, of those after input.detail_begin_seq. NULL: there are none.
    first_seq,
    -- Birth of the last in the order of events. NULL: before input.detail_begin_seq.
    last_seq,
    -- In how many steps (twentieths of the trace, where steps are unknown) they were born. Unit: generations.
    generation_count
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    coalesce(f.label, '(no stack)'),
    g.allocation_count,
    g.size_bytes,
    g.first_seq,
    g.last_seq,
    g.generation_count
FROM (
    SELECT
        a.heap_id,
        s.site_frame_id,
        sum(a.allocation_count) AS allocation_count,
        sum(a.size_bytes) AS size_bytes,
        min(a.first_seq) AS first_seq,
        max(a.last_seq) AS last_seq,
        count(DISTINCT a.generation) AS generation_count
    FROM z_outstanding_birth AS a
    LEFT JOIN stack AS s ON s.stack_id = a.stack_id
    GROUP BY a.heap_id, s.site_frame_id
) AS g
JOIN z_heap_place AS p ON p.heap_id = g.heap_id
LEFT JOIN frame AS f ON f.frame_id = g.site_frame_id
ORDER BY g.size_bytes DESC, g.first_seq;
