-- graphs.sql: captured graphs, how many are destroyed, and what the others hold.
SELECT
    count(*) AS graph_count,
    sum(end_kind = 'destroyed') AS destroyed_count,
    sum(CASE WHEN end_kind <> 'destroyed' THEN driver_bytes ELSE 0 END) AS driver_bytes,
    sum(CASE WHEN end_kind <> 'destroyed' THEN block_bytes ELSE 0 END) AS block_bytes
FROM z_graph_memory;
