-- A miss before the first step is cold if there turned out to be steps. Until that is known its cause has NM_EARLY_CAUSE
-- added to it (verdicts.h): 16.
CREATE TEMP TABLE stepping AS
SELECT heap_id
FROM heap
WHERE process_id IN (SELECT process_id FROM step);

UPDATE z_pool_miss
SET cause = CASE WHEN heap_id IN (SELECT heap_id FROM stepping) THEN 1 ELSE nullif(cause - 16, 0) END
WHERE cause >= 16;

UPDATE z_pool_miss_sum
SET cause = CASE WHEN heap_id IN (SELECT heap_id FROM stepping) THEN 1 ELSE nullif(cause - 16, 0) END
WHERE cause >= 16;

DROP TABLE stepping;
