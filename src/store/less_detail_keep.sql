-- less_detail_keep.sql: an allocation stays.
-- After: less_detail_plan.sql
INSERT OR IGNORE INTO less_kept
VALUES (:allocation_id);
