-- Indexes, made after the rows are there.

CREATE INDEX peak_stack_heap ON z_peak_stack (heap_id);
CREATE INDEX pool_hit_heap ON z_pool_hit (heap_id, bucket);
CREATE INDEX usage_heap ON usage (heap_id, last_seq);
CREATE INDEX fragmentation_sample_heap ON fragmentation_sample (heap_id, moment_id);
CREATE INDEX part_sample_moment ON z_part_sample (moment_id);
CREATE INDEX gap_moment ON z_gap (moment_id, heap_id);
CREATE INDEX blocker_sample_moment ON z_blocker_sample (moment_id, heap_id);
CREATE INDEX fragmentation_usage_heap ON z_fragmentation_usage (heap_id, part_id, last_seq);
CREATE INDEX moment_heap ON moment (heap_id);
CREATE INDEX heap_device ON heap (device_id);
CREATE INDEX module_sample_device ON z_module_sample (device_id, module, seq, used_bytes);
CREATE INDEX module_sample_seq ON z_module_sample (device_id, seq, recorded_bytes);
CREATE INDEX device_module_device ON z_device_module (device_id, module);
CREATE INDEX step_process ON step (process_id, number);
CREATE INDEX site_growth_heap ON z_site_growth (heap_id, site_frame_id);
CREATE INDEX site_lifetime_heap ON z_site_lifetime (heap_id, site_frame_id);
CREATE INDEX step_generation ON step (process_id, generation, number, source);
CREATE INDEX step_begin ON step (process_id, begin_seq);
CREATE INDEX leaked_sum_heap ON z_leaked_sum (heap_id, stack_id, size_bytes, generation);
CREATE INDEX site_verdict_heap ON z_site_verdict (heap_id, site_frame_id);
CREATE INDEX pause_process ON z_pause (process_id, is_memory_told, end_seq, begin_seq);
