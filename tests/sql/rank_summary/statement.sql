SELECT host, rank, pid, device, heap, level, peak_bytes, printf('%.9f', peak_gib) AS peak_gib, capacity_bytes, share_ratio,
    step, seq, ns, pool_bytes, pool_live_bytes, workspace_bytes, program_bytes, module_bytes, physical_bytes, rounding_bytes,
    components, process_count, is_estimate, is_partial, input_id
FROM z_rank_summary
