-- allocation_outstanding.sql: what is outstanding (the baseline has no generation), so that whoever lists it does not read the large table.
CREATE INDEX IF NOT EXISTS allocation_outstanding
    ON z_allocation (heap_id, stack_id, generation, alloc_seq, size_bytes, end_kind)
    WHERE is_segment = 0 AND generation IS NOT NULL;
