-- check_chosen.sql: how many heaps a filter chooses.
SELECT count(*) AS heap_count
FROM z_heap_place
WHERE (:rank IS NULL OR rank IS :rank) AND (:heap IS NULL OR heap IS :heap OR level IS :heap);
