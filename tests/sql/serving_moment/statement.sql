SELECT rank, pid, device, moment, seq, part, bytes FROM serving_moment
UNION ALL
SELECT rank, pid, device, 'budget', NULL, part, bytes FROM serving_budget WHERE part = 'said KV cache';
