-- Calls that are wrong, whatever became of them: of each process each kind, with its first.
INSERT INTO finding (severity, kind, host, rank, pid, site, verdict, basis, count, seq, stack_id, sentence, next_command, source_view, source_id)
SELECT
    'fault',
    'misuse',
    m.host,
    m.rank,
    m.pid,
    m.site,
    m.kind,
    'exact',
    m.misuse_count,
    m.seq,
    m.stack_id,
    said(
        say(coalesce(w.code, 'screen.misuse.unallocated'), 'n', m.misuse_count),
        say('screen.misuse.first')
    ),
    command('screen.next.misuse'),
    'misuse',
    m.first_id
FROM (
    SELECT
        host,
        rank,
        pid,
        kind,
        count(*) AS misuse_count,
        min(anomaly_id) AS first_id,
        site,
        seq,
        stack_id
    FROM misuse
    GROUP BY host, rank, pid, kind
) AS m
LEFT JOIN temp.said_word AS w ON w.topic = 'misuse' AND w.word = m.kind
ORDER BY m.misuse_count DESC, m.kind, m.first_id;
