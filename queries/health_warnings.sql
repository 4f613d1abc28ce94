-- health_warnings.sql: what should be looked at first, and what would help?
-- Parameters: :all    1: measures that are good, minor, unknown or do not apply, too (default 0)
-- Columns:    pid process; rank of the process or NULL; device number; heap name, NULL where the measure is of the whole
--             process; measure 'allocation cost', 'fragmentation', 'pool hit rate' or 'zero copy'; verdict 'danger' or
--             'warning', with :all also 'good', 'unknown', 'minor' (too little to matter), 'not applicable'; value ns of a
--             cost, else 0 to 1; good_limit what it would have to pass to be good: costs and fragmentation below, rates
--             above; advice a sentence with figures
SELECT
    h.pid AS pid,
    h.rank AS rank,
    h.device AS device,
    h.heap AS heap,
    h.measure AS measure,
    h.verdict AS verdict,
    h.value AS value,
    CASE h.measure
        WHEN 'allocation cost' THEN 10000.0
        WHEN 'fragmentation' THEN 0.1
        WHEN 'pool hit rate' THEN 0.9
        WHEN 'zero copy' THEN 0.8
    END AS good_limit,
    h.advice AS advice
FROM health AS h
WHERE h.verdict IN ('danger', 'warning') OR :all = 1
ORDER BY
    CASE h.verdict
        WHEN 'danger' THEN 1
        WHEN 'warning' THEN 2
        WHEN 'unknown' THEN 3
        WHEN 'minor' THEN 4
        WHEN 'good' THEN 5
        ELSE 6
    END,
    h.host,
    h.rank,
    h.pid,
    h.device,
    h.heap,
    h.level,
    h.measure
-- begin guard :all; -1
LIMIT CASE
    WHEN :all IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
