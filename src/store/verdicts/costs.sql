-- What the calls of a heap cost in all. A sum of integers that is too large would end the load, and costs are what the input
-- says: added in two halves it stops at the largest number, as every sum does.
CREATE TEMP TABLE heap_cost AS
SELECT
    heap_id,
    sum(call_count) AS call_count,
    sum(cost_ns >> 31) AS high,
    sum(cost_ns & 2147483647) AS low
FROM z_cost_histogram
WHERE heap_id IS NOT NULL
GROUP BY heap_id;
CREATE UNIQUE INDEX temp.heap_cost_of ON heap_cost (heap_id);

UPDATE z_heap_sum
SET cost_count = (SELECT call_count FROM heap_cost AS c WHERE c.heap_id = z_heap_sum.heap_id),
    cost_ns = (
        SELECT CASE WHEN (high + (low >> 31)) >> 32 = 0 THEN (high << 31) + low ELSE 9223372036854775807 END
        FROM heap_cost AS c
        WHERE c.heap_id = z_heap_sum.heap_id
    )
WHERE heap_id IN (SELECT heap_id FROM heap_cost);

DROP TABLE heap_cost;
