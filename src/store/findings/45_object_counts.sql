-- Objects of the runtime that are counted, and become ever more.
-- Only if: SELECT EXISTS (SELECT 1 FROM z_object_count WHERE is_rising = 1)
INSERT INTO finding (
    severity, kind, host, rank, pid, site, verdict, basis, count, seq, stack_id, sentence, remedy, source_view
)
SELECT
    'warning',
    'object leak',
    o.host,
    o.rank,
    o.pid,
    coalesce(o.site, '(no stack)'),
    o.verdict,
    'exact',
    o.left_count,
    o.first_seq,
    o.stack_id,
    said(
        say('screen.counted', 'n', o.left_count, 'object', o.object),
        CASE WHEN o.site IS NOT NULL THEN say('screen.counted.site', 'left_ratio', o.site_ratio) END
    ),
    said(say('screen.counted.remedy', 'call', o.destroyed_by)),
    'object_count'
FROM object_count AS o
WHERE o.verdict = 'leak'
ORDER BY o.left_count DESC, o.host, o.rank, o.pid, o.object;
