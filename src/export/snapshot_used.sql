-- snapshot_used.sql: driver memory in which workspaces lie.
-- With: snapshot_devices.part.sql
SELECT DISTINCT segment_id
FROM allocation
WHERE segment_id IS NOT NULL AND heap_id IN (SELECT heap_id FROM own WHERE level = 3);
