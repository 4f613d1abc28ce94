-- graph_memory.sql: what does each graph hold, most device memory first?
-- Parameters: :pid    only this process (default: all)
--             :top    rows to return (default 1000)
-- Columns:    pid process; device number, NULL where unknown; graph_id number of the graph; site where its capture began;
--             execute_count executions; end_kind lives, destroyed or reset; driver_bytes driver memory that came in its capture,
--             block_bytes blocks of pools and workspaces, host_bytes pinned memory, bytes; stack_id stack of the capture, NULL
--             where none was recorded
SELECT
    v.pid AS pid,
    v.device AS device,
    v.graph_id AS graph_id,
    v.site AS site,
    v.execute_count AS execute_count,
    v.end_kind AS end_kind,
    v.driver_bytes AS driver_bytes,
    v.block_bytes AS block_bytes,
    v.host_bytes AS host_bytes,
    v.stack_id AS stack_id
FROM z_graph_memory AS v
WHERE v.pid IS coalesce(:pid, v.pid)
ORDER BY v.driver_bytes DESC, v.block_bytes DESC, v.graph_id
-- begin guard coalesce(:pid, :top); coalesce(:top, 1000)
LIMIT CASE
    WHEN coalesce(:pid, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE coalesce(:top, 1000)
END;
-- end guard
