SELECT heap, moment, reserved_bytes, min_unused_bytes, max_unused_bytes FROM z_fragmentation_verdict WHERE moment = 'reserve' ORDER BY heap
