SELECT host, rank, pid, device, heap, level, anomaly_id, kind, seq, ns, thread, address, size_bytes, allocation_id, site, other_site, stack_id FROM misuse;
