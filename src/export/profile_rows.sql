-- profile_rows.sql: allocations, each with when it was live; all moments at once are looked for in one pass over them.
SELECT
    heap_id,
    stack_id,
    size_bytes,
    alloc_seq,
    alloc_ns,
    end_kind = 0 AS is_live,
    free_seq,
    free_ns
FROM allocation;
