-- less_detail_lives.sql: what is asked of each allocation that is to be added, whether it stays.
SELECT
    allocation_id,
    heap_id,
    end_kind AS end_code,
    alloc_seq,
    free_seq
FROM source.z_allocation
ORDER BY allocation_id;
