-- Requests of which it is known whether they are misses. Unit: allocations.
allocation_count,
-- Of these, how many the pool served by itself. Unit: allocations.
hit_count,
-- Of these, for how many it had to grow. Unit: allocations.
miss_count,
-- hit_count / allocation_count. Unit: 0 to 1. NULL: no request, or no miss was seen and the input allows but an estimate.
hit_rate,
-- Sum of the requests, by the heap's size_basis. Unit: bytes.
allocated_bytes,
-- Sum of the misses. Unit: bytes.
missed_bytes,
-- 1 - missed_bytes / allocated_bytes: what a large miss costs. Unit: 0 to 1. NULL: as hit_rate.
byte_hit_rate,
