-- snapshot_cuts.part.sql: part: what is left of an allocation that was cut, in all and at its begin.
part (id, size_bytes, left_bytes) AS (
    SELECT
        r.split_from_id,
        sum(r.size_bytes),
        max(CASE WHEN r.address = a.address THEN r.size_bytes END)
    FROM allocation AS r
    JOIN allocation AS a ON a.allocation_id = r.split_from_id
    WHERE r.split_from_id IS NOT NULL
    GROUP BY r.split_from_id
)
