-- block_rows.sql: rows of allocations in the order of the file, :is_whole with all that the page names them by. They
-- are millions: no more is asked for than is needed.
SELECT
    heap_id,
    alloc_seq,
    free_seq,
    address,
    size_bytes,
    stack_id,
    allocation_id,
    segment_id,
    end_kind AS end_code,
    is_segment,
    CASE WHEN :is_whole THEN stream END AS stream,
    CASE WHEN :is_whole THEN category_id END AS category_id,
    CASE WHEN :is_whole THEN private_pool END AS private_pool_id,
    CASE WHEN :is_whole THEN max(block_bytes - requested_bytes, 0) END AS spare_bytes,
    CASE WHEN :is_whole THEN free_requested_seq END AS given_up_seq,
    CASE WHEN :is_whole THEN operation_id END AS operation_id,
    CASE WHEN :is_whole THEN operation_source END AS source_code
FROM allocation
WHERE allocation_id BETWEEN :first_id AND :last_id
ORDER BY allocation_id;
