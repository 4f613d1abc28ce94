-- unjudged_findings.sql: what cannot be judged, and why: leaks that have a sentence of their own, what is missing, then measures; what was
-- not recorded first.
SELECT
    kind,
    sentence,
    evidence
FROM finding
WHERE severity = 'not judged' AND kind <> 'suspect'
GROUP BY kind, sentence, evidence, reason
ORDER BY
    evidence IS NOT NULL,
    CASE kind WHEN 'leak' THEN 0 WHEN 'out of memory' THEN 1 WHEN 'misuse' THEN 2 ELSE 3 END,
    reason = 'stack cut',
    reason <> 'not all was recorded',
    reason,
    kind;
