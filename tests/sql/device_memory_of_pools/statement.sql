SELECT device, heap, moment, seq, bytes, used_bytes, pending_bytes, free_bytes FROM device_memory WHERE component = 'POOL' AND (moment_heap = heap OR moment_heap IS NULL);
