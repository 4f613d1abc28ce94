-- block_counts.sql: how many blocks there are.
SELECT count(*) AS block_count
FROM allocation
WHERE is_segment = 0;
