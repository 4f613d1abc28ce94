-- Whose memory of a device view device_memory shows: once sorted here, so that it need not look for names in samples.
INSERT INTO z_device_module
SELECT device_id, module FROM z_module_sample WHERE device_id IS NOT NULL AND module IS NOT NULL
UNION
SELECT heap.device_id, coalesce(z_cann_module.name, 'module ' || heap.module_id)
FROM heap
LEFT JOIN z_cann_module ON z_cann_module.module_id = heap.module_id
WHERE heap.device_id IS NOT NULL AND heap.module_id IS NOT NULL AND heap.level = 1;
