-- check_chosen.sql: how many heaps a filter chooses, and of how many.
SELECT
    coalesce(sum((:rank IS NULL OR rank IS :rank) AND (:heap IS NULL OR heap IS :heap OR level IS :heap)), 0) AS heap_count,
    count(*) AS all_count
FROM z_heap_place;
