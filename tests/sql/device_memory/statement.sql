SELECT host, rank, pid, device, heap, level, moment, moment_kind, seq, ns, component, bytes, runtime_bytes, is_estimate, moment_heap
FROM device_memory
WHERE moment_kind IN ('mark', 'failure', 'end')
