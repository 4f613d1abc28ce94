-- snapshot_cuts.sql: allocations that were cut, and what was left of each: so many bytes, and of these so many at its begin.
-- With: snapshot_cuts.part.sql
SELECT
    id AS allocation_id,
    coalesce(size_bytes, 0) AS size_bytes,
    coalesce(left_bytes, 0) AS left_bytes
FROM part;
