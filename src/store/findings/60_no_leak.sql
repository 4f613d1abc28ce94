-- No leak, or what keeps them from being judged, where all was recorded.
-- Only if: SELECT NOT EXISTS (SELECT 1 FROM finding WHERE kind = 'leak') AND has_memory FROM temp.said_run
INSERT INTO finding (severity, kind, reason, basis, bytes, count, sentence, source_view)
WITH
    run AS (
        SELECT
            coalesce(sum(reason = 'no steps'), 0) AS stepless_count,
            coalesce(sum(reason = 'too few steps'), 0) AS early_count,
            coalesce(sum(CASE WHEN reason = 'stack cut' THEN size_bytes END), 0) AS cut_bytes,
            (SELECT coalesce(sum(outstanding_count), 0) FROM heap_total) AS outstanding_count,
            (SELECT coalesce(sum(outstanding_bytes), 0) FROM heap_total) AS outstanding_bytes,
            coalesce((SELECT max(n) FROM (SELECT count(*) AS n FROM step GROUP BY process_id)), 0) AS step_count,
            (SELECT coalesce(sum(allocation_count), 0) FROM heap_total) AS birth_count
        FROM suspect_by_site
    )
SELECT
    'not judged',
    'leak',
    CASE WHEN early_count > 0 THEN 'too few steps' ELSE 'no steps' END,
    'exact',
    NULL,
    NULL,
    said(
        CASE
            WHEN early_count > 0
                THEN say('screen.unjudged.early', 'seen', step_count, 'needed', 3, 'more', max(3 - step_count, 0))
            ELSE say('screen.unjudged.stepless', 'needed', 3)
        END
    ),
    'suspect_by_site'
FROM run
WHERE early_count + stepless_count > 0
UNION ALL
SELECT
    'not judged',
    'leak',
    'no history',
    'exact',
    NULL,
    NULL,
    said(say('screen.unjudged.history')),
    'heap_total'
FROM run
WHERE birth_count = 0
UNION ALL
SELECT
    'not judged',
    'leak',
    'stack cut',
    'exact',
    cut_bytes,
    NULL,
    said(say('screen.unjudged.cut', 'part_bytes', cut_bytes, 'all_bytes', outstanding_bytes)),
    'suspect_by_site'
FROM run
WHERE cut_bytes > 0
UNION ALL
SELECT
    'good',
    'leak',
    NULL,
    'exact',
    outstanding_bytes,
    outstanding_count,
    said(
        CASE outstanding_count
            WHEN 0 THEN say('screen.fine.leaks')
            ELSE say('screen.fine.leaks_of', 'n', outstanding_count, 'all_bytes', outstanding_bytes)
        END
    ),
    'leak_by_site'
FROM run
WHERE stepless_count = 0 AND early_count = 0 AND birth_count > 0 AND cut_bytes * 2 <= outstanding_bytes;
