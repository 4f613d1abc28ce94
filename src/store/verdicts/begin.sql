-- What the replay tells of stacks, for site_sums.sql, leaks.sql and out_of_memory_pools.sql: kept while a database is made.

CREATE TEMP TABLE stack_lifetime (
    heap_id INTEGER,
    stack_id INTEGER,
    bucket INTEGER,
    freed_count INTEGER,
    max_ns INTEGER,
    max_steps INTEGER,
    last_alloc_seq INTEGER
);
CREATE TEMP TABLE stack_floor (
    heap_id INTEGER,
    stack_id INTEGER,
    minute INTEGER,
    floor_bytes INTEGER
);
CREATE TEMP TABLE segment_stack (
    heap_id INTEGER,
    stack_id INTEGER
);
