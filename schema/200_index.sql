-- Indexes, made after the rows are there.

-- What is outstanding (the baseline has no generation), with all that sums by site need: the by-site views never touch
-- the large table.
CREATE INDEX allocation_outstanding
    ON allocation (heap_id, stack_id, generation, alloc_seq, size_bytes, is_doubtful)
    WHERE end_kind = 0 AND is_segment = 0 AND generation IS NOT NULL;
CREATE INDEX peak_stack_heap ON peak_stack (heap_id);
CREATE INDEX pool_hit_heap ON pool_hit (heap_id, bucket);
CREATE INDEX usage_heap ON usage (heap_id, last_seq);
CREATE INDEX fragmentation_sample_heap ON fragmentation_sample (heap_id, moment_id);
CREATE INDEX moment_heap ON moment (heap_id);
CREATE INDEX step_process ON step (process_id, number);
-- Which operators worked in a block, and how much they needed.
CREATE INDEX workspace_allocation
    ON workspace (allocation_id, requested_bytes, ns)
    WHERE allocation_id IS NOT NULL;
