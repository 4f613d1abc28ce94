SELECT host, rank, pid, device, heap, level, moment, moment_kind, seq, ns, used_bytes, total_bytes, sample_ns, is_stale,
    recorded_bytes, other_recorded_bytes, runtime_bytes, moment_heap, device_id, until_seq, sample_used_bytes,
    runtime_recorded_bytes
FROM z_device_moment
WHERE moment_kind <> 'peak'
