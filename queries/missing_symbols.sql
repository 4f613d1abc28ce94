-- missing_symbols.sql: which programs and libraries have code that could not be named, and how much was allocated there.
-- Parameters: :top    rows to return (default 20)
-- Columns:    module path; build_id hexadecimal, by which npumem-ingest --symbols looks for its symbols, NULL where
--             unknown; frame_count places in it without a function; site_count how many of them are the site of an
--             allocation; allocation_count and allocated_bytes of these sites over the whole recording
SELECT
    frame.module AS module,
    z_module.build_id AS build_id,
    count(*) AS frame_count,
    count(allocated.site_frame_id) AS site_count,
    coalesce(sum(allocated.allocation_count), 0) AS allocation_count,
    coalesce(sum(allocated.allocated_bytes), 0) AS allocated_bytes
FROM frame
LEFT JOIN z_module ON z_module.module_id = frame.module_id
LEFT JOIN (
    SELECT
        stack.site_frame_id AS site_frame_id,
        sum(z_stack_sum.allocation_count) AS allocation_count,
        sum(z_stack_sum.allocated_bytes) AS allocated_bytes
    FROM z_stack_sum
    JOIN stack ON stack.stack_id = z_stack_sum.stack_id
    GROUP BY stack.site_frame_id
) AS allocated ON allocated.site_frame_id = frame.frame_id
WHERE frame.function IS NULL AND frame.file IS NULL AND frame.module IS NOT NULL
GROUP BY frame.module, z_module.build_id
ORDER BY allocated_bytes DESC, frame_count DESC, frame.module, z_module.build_id
-- begin guard :top; coalesce(:top, 20)
LIMIT CASE
    WHEN :top IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 20)
END;
-- end guard
