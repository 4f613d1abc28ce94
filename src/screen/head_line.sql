-- head_line.sql: what the first line of the screen says of all inputs, and of the first process with memory: what ran,
-- how it ended, what is lost. Where none has any, of the first that asked for some, else of what the first one became in the
-- end: a program may be reached through several others, each in the place of the one before.
SELECT
    CASE WHEN count(*) = 1 THEN min(c.path) END AS only_path,
    count(*) AS input_count,
    (
        SELECT w.verdict
        FROM completeness AS w
        ORDER BY CASE w.verdict
                WHEN 'running' THEN 0
                WHEN 'killed' THEN 1
                WHEN 'unreadable' THEN 2
                WHEN 'lossy' THEN 3
                WHEN 'cut' THEN 4
                WHEN 'unseen' THEN 5
                WHEN 'contradictory' THEN 6
                WHEN 'kept' THEN 7
                WHEN 'begun' THEN 8
                ELSE 9
            END
        LIMIT 1
    ) AS verdict,
    max(m.command) AS command,
    max(m.end_kind) AS end_kind,
    max(m.end_status) AS end_status,
    (SELECT max(state NOT IN ('ended', 'recovered', 'cut')) FROM input) AS is_going_on,
    min(c.kind) AS input_kind,
    sum(c.events_dropped) AS dropped_count,
    sum(c.events_damaged) AS damaged_count,
    sum(c.events_unrecovered) AS unrecovered_count,
    sum(c.events_late) AS late_count,
    sum(c.events_without_stack) AS stackless_count,
    sum(c.processes_unjoined) AS unjoined_count,
    sum(c.bytes_cut) AS cut_bytes,
    min(c.is_loss_exact) AS is_loss_exact,
    sum(c.events_unkept) AS unkept_count,
    CASE WHEN count(*) = 1 THEN min(c.detail_begin_ns) END AS detail_begin_ns,
    CASE WHEN count(*) = 1 THEN min(c.detail_begin_seq) END AS detail_begin_seq,
    CASE WHEN count(*) = 1 THEN min(c.window_begin_seq) END AS window_begin_seq,
    CASE WHEN count(*) = 1 THEN min(c.window_end_seq) END AS window_end_seq
FROM completeness AS c
LEFT JOIN (
    SELECT p.command, p.end_kind, p.end_status
    FROM process AS p
    LEFT JOIN (
        SELECT h.process_id, sum(u.peak_bytes) AS bytes
        FROM z_heap_sum AS u
        JOIN heap AS h ON h.heap_id = u.heap_id
        GROUP BY h.process_id
    ) AS b ON b.process_id = p.process_id
    ORDER BY
        coalesce(b.bytes, 0) = 0,
        b.bytes IS NULL,
        NOT (p.end_kind <> 'exec' AND p.pid IS (SELECT o.pid FROM process AS o ORDER BY o.process_id LIMIT 1)),
        p.process_id
    LIMIT 1
) AS m;
