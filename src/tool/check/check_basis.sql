-- check_basis.sql: of the inputs that a filter chooses, how many go as far as a rule needs, how many allow an estimate, and how many
-- say nothing. :part: 'peak' and 'reserved' (any figure will do), 'fragmentation' or 'hits'.
SELECT
    total(basis = 'exact') > 0 AS has_exact,
    total(basis IN ('curve', 'estimate')) > 0 AS has_estimate,
    total(basis = 'none') > 0 AS has_untold
FROM (
    SELECT
        CASE :part
            WHEN 'fragmentation' THEN i.fragmentation_basis
            WHEN 'hits' THEN i.hit_basis
            WHEN 'reserved' THEN CASE WHEN i.fragmentation_basis = 'none' THEN 'none' ELSE 'exact' END
            ELSE CASE WHEN i.device_basis <> 'exact' AND i.peak_basis = 'none' THEN 'none' ELSE 'exact' END
        END AS basis
    FROM main.input AS i
    WHERE :rank IS NULL OR EXISTS (
        SELECT 1
        FROM main.process AS p
        WHERE p.input_id = i.input_id AND p.rank IS :rank
    )
);
