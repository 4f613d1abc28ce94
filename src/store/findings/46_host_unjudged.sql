-- What can be sampled and was not, or too short a time: of a recording, processes that allocated. What does not move by a mebibyte has a
-- look at its begin and one at its end.
INSERT INTO finding (severity, kind, reason, basis, count, sentence, evidence, source_view)
SELECT
    'not judged',
    'host growth',
    CASE WHEN sum(looked.look_count) > 0 THEN 'too short' ELSE 'not sampled' END,
    'exact',
    count(*),
    said(say('screen.unjudged.host')),
    said(
        said_line(
            NULL,
            CASE WHEN sum(looked.look_count) > 0 THEN say('screen.reason.brief', 'n', m.least) ELSE say('screen.reason.unsampled') END
        )
    ),
    'host_growth'
FROM (
    SELECT
        count(s.ns) AS look_count,
        max(s.ns) - min(s.ns) AS span_ns
    FROM process AS p
    JOIN input AS i ON i.input_id = p.input_id AND i.kind = 'trace'
    LEFT JOIN memory_sample AS s ON s.process_id = p.process_id AND s.kind = 101 AND s.device_id IS NULL
    WHERE p.process_id IN (SELECT h.process_id FROM heap AS h JOIN z_heap_sum AS t ON t.heap_id = h.heap_id WHERE t.allocation_count > 0)
    GROUP BY p.process_id
) AS looked
JOIN minimum AS m ON m.judgement = 'host memory'
WHERE looked.look_count < 5 AND coalesce(looked.span_ns < m.least * 1000000000, 1)
GROUP BY m.judgement;
