-- segment_places.sql: where a segment lies, from when to when, and in which heap.
SELECT
    address,
    size_bytes,
    alloc_seq,
    free_seq,
    heap_id
FROM allocation
WHERE allocation_id = :segment_id;
