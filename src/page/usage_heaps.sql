-- usage_heaps.sql: how many heaps have been used.
SELECT count(DISTINCT heap_id) AS heap_count
FROM usage;
