-- A pool under whose blocks no driver memory was seen (or, of an input that contradicts itself, believed), and which stated
-- nothing itself, held nobody knows what, not nothing; nor is known which of its requests made it grow, where the pool did not
-- say that.
CREATE TEMP TABLE unbelieved AS
SELECT heap_id
FROM z_heap_sum
JOIN heap USING (heap_id)
WHERE level IN (2, 3) AND reserved_source IS NULL;

DELETE FROM fragmentation_sample WHERE heap_id IN (SELECT heap_id FROM unbelieved);
DELETE FROM z_pool_growth WHERE heap_id IN (SELECT heap_id FROM unbelieved);
DELETE FROM z_fragmentation_usage WHERE heap_id IN (SELECT heap_id FROM unbelieved);
UPDATE usage SET reserved_bytes = NULL WHERE heap_id IN (SELECT heap_id FROM unbelieved);
UPDATE z_heap_sum SET reserved_at_peak_bytes = NULL,
    peak_reserved_bytes = NULL,
    reserved_bytes = NULL
WHERE heap_id IN (SELECT heap_id FROM unbelieved);

DELETE FROM unbelieved WHERE heap_id IN (SELECT heap_id FROM z_pool_hit WHERE allocation_count > 0);
DELETE FROM z_pool_hit WHERE heap_id IN (SELECT heap_id FROM unbelieved);
DELETE FROM z_pool_group WHERE heap_id IN (SELECT heap_id FROM unbelieved);
DELETE FROM z_pool_class WHERE heap_id IN (SELECT heap_id FROM unbelieved);
UPDATE z_step_sum SET miss_count = NULL WHERE heap_id IN (SELECT heap_id FROM unbelieved);
DROP TABLE unbelieved;
