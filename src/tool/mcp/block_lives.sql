-- block_lives.sql: the life of a block, by its number (:allocation_id) or its address (:address_number), of which there may be
-- several; of a :rank or of all.
SELECT
    allocation_id,
    address,
    rank,
    pid,
    device,
    heap,
    level,
    size_bytes,
    requested_bytes,
    alloc_seq,
    alloc_ns,
    step,
    free_seq,
    free_ns,
    lifetime_ns,
    ended,
    thread,
    free_thread,
    operation,
    stream,
    site,
    free_site,
    category,
    stack_id
FROM allocation_detail
WHERE allocation_id IN (
    SELECT a.allocation_id
    FROM allocation AS a
    WHERE a.allocation_id = :allocation_id
    UNION ALL
    SELECT a.allocation_id
    FROM allocation AS a
    WHERE :allocation_id IS NULL AND a.address = :address_number
)
    AND (:rank IS NULL OR rank = :rank)
ORDER BY allocation_id;
