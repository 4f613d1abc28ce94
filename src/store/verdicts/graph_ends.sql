-- graph_ends.sql: when each graph was destroyed.
SELECT
    graph_id,
    destroyed_seq
FROM z_graph
ORDER BY graph_id;
