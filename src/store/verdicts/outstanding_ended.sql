-- outstanding_ended.sql: what a reset ended for good is not outstanding.
UPDATE z_allocation
SET generation = NULL
WHERE is_segment = 0 AND generation IS NOT NULL AND end_kind = 3
    AND free_seq < (
        SELECT max(t.last_alloc_seq)
        FROM heap AS own
        JOIN heap AS h
            ON h.process_id = own.process_id AND (h.heap_id = own.heap_id OR h.device_id = own.device_id)
        JOIN z_heap_sum AS t ON t.heap_id = h.heap_id
        WHERE own.heap_id = z_allocation.heap_id
    );
