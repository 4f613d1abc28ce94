SELECT
    severity, rank, pid, device, heap, level, site, verdict, basis, bytes, count, text,
    evidence LIKE '%"screen.uneven.group",{"name":"PIPELINE_MODEL_PARALLEL_GROUP"}%' AS is_by_group
FROM finding WHERE kind = 'uneven rank';
