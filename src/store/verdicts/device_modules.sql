-- Whose memory of a device view device_memory shows: once sorted here, so that it need not look for names in samples.
INSERT INTO _device_module
SELECT device_id, module FROM _module_sample WHERE device_id IS NOT NULL AND module IS NOT NULL
UNION
SELECT heap.device_id, coalesce(_cann_module.name, 'module ' || heap.module_id)
FROM heap
LEFT JOIN _cann_module ON _cann_module.module_id = heap.module_id
WHERE heap.device_id IS NOT NULL AND heap.module_id IS NOT NULL AND heap.level = 1;
