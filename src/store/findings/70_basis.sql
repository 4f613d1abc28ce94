-- Inputs that go only part of the way (input.leak_basis and those beside it): what rests on an estimate is never firm, and of what an
-- input says nothing neither good nor bad is said.
-- Only if: SELECT EXISTS (SELECT 1 FROM input WHERE leak_basis || fragmentation_basis || hit_basis || device_basis || failure_basis || misuse_basis <> 'exactexactexactexactexactexact')
CREATE TEMP TABLE said_basis AS
SELECT
    p.host AS host,
    p.rank AS rank,
    p.pid AS pid,
    k.kind AS kind,
    min(w.grade) AS grade
FROM process AS p
JOIN input AS i ON i.input_id = p.input_id
JOIN (
    SELECT 'leak' AS kind, 1 AS part
    UNION ALL SELECT 'suspect', 1
    UNION ALL SELECT 'fragmentation', 2
    UNION ALL SELECT 'pending memory', 2
    UNION ALL SELECT 'idle streams', 2
    UNION ALL SELECT 'cache growth', 2
    UNION ALL SELECT 'pool hit rate', 3
    UNION ALL SELECT 'shared device', 4
    UNION ALL SELECT 'out of memory', 5
    UNION ALL SELECT 'misuse', 6
) AS k
JOIN (
    SELECT 'none' AS word, 0 AS grade
    UNION ALL SELECT 'curve', 1
    UNION ALL SELECT 'estimate', 2
    UNION ALL SELECT 'exact', 3
) AS w
    ON w.word = CASE k.part
            WHEN 1 THEN i.leak_basis
            WHEN 2 THEN i.fragmentation_basis
            WHEN 3 THEN i.hit_basis
            WHEN 4 THEN i.device_basis
            WHEN 5 THEN i.failure_basis
            ELSE i.misuse_basis
        END
GROUP BY p.host, p.rank, p.pid, k.kind;
CREATE INDEX temp.said_basis_of ON said_basis (kind, pid, rank, host);

-- Of a finding the least of those that it is of; of the whole run the least of all.
CREATE TEMP TABLE said_grade AS
SELECT
    f.finding_id AS finding_id,
    CASE
        WHEN f.host IS NULL AND f.rank IS NULL AND f.pid IS NULL
            THEN (SELECT min(b.grade) FROM temp.said_basis AS b WHERE b.kind = f.kind)
        ELSE (SELECT b.grade FROM temp.said_basis AS b WHERE b.kind = f.kind AND b.pid IS f.pid AND b.rank IS f.rank AND b.host IS f.host)
    END AS grade
FROM finding AS f;
DELETE FROM temp.said_grade WHERE grade IS NULL OR grade = 3;

DELETE FROM finding
WHERE finding_id IN (SELECT g.finding_id FROM temp.said_grade AS g WHERE g.grade = 0)
    OR (kind IN ('leak', 'suspect') AND finding_id IN (SELECT g.finding_id FROM temp.said_grade AS g));
-- That no miss was seen, or no failure, does not say that there was none.
UPDATE finding
SET severity = 'not judged',
    reason = 'estimate',
    basis = 'estimate',
    sentence = said(say(CASE kind WHEN 'pool hit rate' THEN 'screen.measure.hit_rate' ELSE 'screen.unjudged.failures' END)),
    evidence = said(said_line(NULL, say(CASE kind WHEN 'pool hit rate' THEN 'screen.reason.no_miss' ELSE 'screen.reason.estimate' END)))
WHERE finding_id IN (SELECT g.finding_id FROM temp.said_grade AS g)
    AND ((kind = 'pool hit rate' AND value = 1) OR (kind = 'out of memory' AND severity = 'good'));
UPDATE finding
SET severity = CASE WHEN severity = 'fault' AND kind <> 'out of memory' THEN 'warning' ELSE severity END,
    basis = 'estimate',
    sentence = '[' || say('screen.estimate') || ',' || substr(sentence, 2)
WHERE finding_id IN (SELECT g.finding_id FROM temp.said_grade AS g) AND severity <> 'not judged';

-- What was not released in what was seen may be in use.
CREATE TEMP TABLE said_open AS
SELECT
    p.host AS host,
    p.rank AS rank,
    p.pid AS pid,
    sum(t.outstanding_bytes) AS outstanding_bytes,
    sum(t.outstanding_count) AS outstanding_count
FROM process AS p
JOIN heap AS h ON h.process_id = p.process_id
JOIN z_heap_sum AS t ON t.heap_id = h.heap_id
GROUP BY p.host, p.rank, p.pid
HAVING sum(t.allocation_count) > 0;
INSERT INTO finding (severity, kind, reason, host, rank, pid, basis, bytes, count, sentence, evidence, source_view)
SELECT
    'not judged',
    'leak',
    'estimate',
    b.host,
    b.rank,
    b.pid,
    'estimate',
    o.outstanding_bytes,
    o.outstanding_count,
    said(
        CASE
            WHEN o.outstanding_count > 0
                THEN say('screen.unjudged.window', 'n', o.outstanding_count, 'open_bytes', o.outstanding_bytes)
            ELSE say('screen.unjudged.leaks')
        END
    ),
    said(said_line(NULL, say('screen.reason.estimate'))),
    'outstanding_by_site'
FROM temp.said_open AS o
JOIN temp.said_basis AS b ON b.kind = 'leak' AND b.pid IS o.pid AND b.rank IS o.rank AND b.host IS o.host
WHERE b.grade IN (1, 2);
CREATE TEMP TABLE said_found AS
SELECT DISTINCT
    kind,
    pid,
    rank,
    host
FROM finding;
CREATE INDEX temp.said_found_of ON said_found (kind, pid, rank, host);
INSERT INTO finding (severity, kind, reason, host, rank, pid, basis, sentence, evidence, source_view)
SELECT
    'not judged',
    b.kind,
    'not in the input',
    b.host,
    b.rank,
    b.pid,
    'exact',
    said(
        say(
            CASE b.kind
                WHEN 'leak' THEN 'screen.unjudged.leaks'
                WHEN 'out of memory' THEN 'screen.unjudged.failures'
                WHEN 'misuse' THEN 'screen.unjudged.misuse'
                WHEN 'fragmentation' THEN 'screen.measure.fragmentation'
                ELSE 'screen.measure.hit_rate'
            END
        )
    ),
    said(said_line(NULL, say('screen.reason.untold'))),
    'input'
FROM temp.said_basis AS b
WHERE b.grade = 0
    AND b.kind IN ('leak', 'fragmentation', 'pool hit rate', 'out of memory', 'misuse')
    AND (SELECT r.has_memory FROM temp.said_run AS r)
    AND NOT EXISTS (SELECT 1 FROM temp.said_found AS f WHERE f.kind = b.kind AND f.pid IS b.pid AND f.rank IS b.rank AND f.host IS b.host);
DROP TABLE temp.said_found;
DROP TABLE temp.said_open;
DROP TABLE temp.said_basis;
DROP TABLE temp.said_grade;
