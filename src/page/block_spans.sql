-- block_spans.sql: half of the numbers that rows of allocations span.
SELECT (SELECT max(allocation_id) FROM allocation) / 2 - (SELECT min(allocation_id) FROM allocation) / 2 AS half_count;
