SELECT object, site, device, created_count, late_count, verdict, first_seq, last_seq, stack_id FROM object_leak;
