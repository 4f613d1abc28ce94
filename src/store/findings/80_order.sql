-- The gravest first.
CREATE TEMP TABLE finding_order (
    old_id INTEGER PRIMARY KEY,
    new_id INTEGER
);
INSERT INTO finding_order
SELECT
    finding_id,
    -row_number() OVER (
        ORDER BY
            CASE severity WHEN 'fault' THEN 0 WHEN 'warning' THEN 1 WHEN 'minor' THEN 2 WHEN 'not judged' THEN 3 ELSE 4 END,
            finding_id
    )
FROM finding;
-- By way of numbers below 0, which no row has.
UPDATE finding
SET finding_id = (SELECT new_id FROM finding_order WHERE old_id = finding_id);
UPDATE finding
SET finding_id = -finding_id;
DROP TABLE temp.finding_order;
