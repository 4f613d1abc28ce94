-- What the replay tells of stacks, for site_steps.c, site_sums.sql and leaks.sql: kept while a database is made.

CREATE TEMP TABLE stack_step (
    heap_id INTEGER,
    stack_id INTEGER,
    generation INTEGER,
    changed_bytes INTEGER,
    changed_count INTEGER
);
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
