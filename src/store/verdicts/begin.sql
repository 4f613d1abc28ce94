-- What is known of stacks, for leaks.sql (from site_lifetimes.c), site_floors.sql and out_of_memory_pools.sql: kept while a database is
-- made. And of each heap (from outstanding.c) what the last reset of its device ended, and is outstanding.

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
CREATE TEMP TABLE reset_sum (
    heap_id INTEGER,
    block_count INTEGER,
    block_bytes INTEGER
);
CREATE TEMP TABLE segment_stack (
    heap_id INTEGER,
    stack_id INTEGER
);
