-- check_leaks.sql: sites that leak, of a :verdict or of any; of those that rise how much an hour, of others how much.
-- Rows as: check_peaks.sql
SELECT
    host,
    rank,
    pid,
    device,
    heap,
    level,
    CASE :verdict WHEN 'rising' THEN value ELSE bytes END AS measured_value,
    NULL AS limit_value,
    site AS note
FROM finding
WHERE kind = 'leak'
    AND severity = 'fault'
    AND (:verdict IS NULL OR verdict = :verdict)
    AND (:rank IS NULL OR rank IS :rank)
    AND (:heap IS NULL OR heap IS :heap OR level IS :heap);
