-- Of leaks, failures and misuse of which there is none: that is good news if all was recorded, else nobody knows.
INSERT INTO finding (severity, kind, reason, basis, sentence, evidence, source_view)
SELECT
    CASE WHEN r.partial_count > 0 THEN 'not judged' ELSE 'good' END,
    k.kind,
    CASE WHEN r.partial_count = 0 THEN NULL WHEN r.is_running THEN 'still recording' ELSE 'not all was recorded' END,
    'exact',
    said(say(CASE WHEN r.partial_count > 0 THEN 'screen.unjudged.' ELSE 'screen.fine.' END || k.code)),
    CASE
        WHEN r.partial_count > 0
            THEN said(said_line(NULL, say(CASE WHEN r.is_running THEN 'screen.reason.running' ELSE 'screen.reason.partial' END)))
        ELSE said(said_line(NULL, say('screen.rests.events', 'n', r.event_count)))
    END,
    k.source_view
FROM temp.said_run AS r
JOIN (
    SELECT 'out of memory' AS kind, 'failures' AS code, 'out_of_memory' AS source_view
    UNION ALL
    SELECT 'misuse', 'misuse', 'misuse'
    UNION ALL
    SELECT 'leak', 'leaks', 'suspect_by_site'
) AS k
WHERE r.has_memory
    AND NOT EXISTS (SELECT 1 FROM finding AS f WHERE f.kind = k.kind)
    AND (r.partial_count > 0 OR k.kind <> 'leak');
