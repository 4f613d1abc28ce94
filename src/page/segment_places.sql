-- segment_places.sql: where a segment lies, and from when to when.
SELECT
    address,
    size_bytes,
    alloc_seq,
    free_seq
FROM allocation
WHERE allocation_id = :segment_id;
