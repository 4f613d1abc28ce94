-- No leak, or what keeps them from being judged, where all was recorded. Of a process in which something grows it is known.
-- Only if: SELECT partial_count = 0 AND has_memory FROM temp.said_run
INSERT INTO finding (severity, kind, reason, host, rank, pid, device, heap, level, site, basis, bytes, count, sentence, evidence, source_view)
WITH
    grown AS (SELECT DISTINCT host, rank, pid FROM finding WHERE kind = 'leak' AND verdict IN ('growing', 'rising')),
    -- A history is whole if it begins with the process, whatever pauses are among its steps.
    begun AS (
        SELECT
            p.process_id AS process_id,
            i.baseline = 'none' OR coalesce(q.is_late, 0) AS is_whole,
            q.process_id IS NOT NULL AS is_paused
        FROM process AS p
        JOIN input AS i ON i.input_id = p.input_id
        LEFT JOIN (
            SELECT
                g.process_id,
                min(coalesce(g.begin_seq, -1)) > (SELECT min(s.begin_seq) FROM step AS s WHERE s.process_id = g.process_id) AS is_late
            FROM z_pause AS g
            GROUP BY g.process_id
        ) AS q ON q.process_id = p.process_id
    ),
    -- Processes that allocated. Where it is not whole all steps are alike, unless there are so many that a warm-up would show; what lived
    -- when a pause ended was born in it.
    seen AS (
        SELECT
            h.process_id AS process_id,
            p.host AS host,
            p.rank AS rank,
            p.pid AS pid,
            coalesce(w.step_count, 0) AS step_count,
            b.is_whole AS is_whole,
            CASE WHEN b.is_whole OR w.step_count >= (SELECT least FROM minimum WHERE judgement = 'warm-up') THEN w.warm_up_count WHEN b.is_paused THEN 0 ELSE -1 END AS warm_up_count,
            sum(t.allocation_count) AS birth_count,
            sum(t.outstanding_count) AS outstanding_count,
            sum(t.outstanding_bytes) AS outstanding_bytes,
            sum(CASE WHEN h.level <> 1 THEN t.live_bytes END) AS live_bytes,
            sum(CASE WHEN h.level <> 1 THEN t.outstanding_bytes END) AS born_bytes
        FROM z_heap_sum AS t
        JOIN heap AS h ON h.heap_id = t.heap_id
        JOIN process AS p ON p.process_id = h.process_id
        JOIN begun AS b ON b.process_id = p.process_id
        LEFT JOIN z_warm_up AS w ON w.process_id = h.process_id
        WHERE t.allocation_count > 0
            AND NOT EXISTS (SELECT 1 FROM grown AS f WHERE f.host IS p.host AND f.rank IS p.rank AND f.pid IS p.pid)
        GROUP BY h.process_id
    ),
    -- Where all that was born in a whole history was freed, that needs no steps.
    short AS (SELECT * FROM seen WHERE step_count < (SELECT least FROM minimum WHERE judgement = 'leak') AND (outstanding_count > 0 OR NOT is_whole)),
    older_site AS (
        SELECT DISTINCT
            q.heap_id AS heap_id,
            coalesce(z.site_frame_id, 0) AS site_id
        FROM z_older_blocks AS q
        JOIN stack AS z ON z.stack_id = q.stack_id
        WHERE q.live_count > 0
    ),
    -- Born in the history, behind the warm-up, and still there: older than all that was freed of the site, or what is freed lives about as
    -- long as the history is. Nothing says that it ends, so nobody can say that it is no leak. In a whole history that shows it if none
    -- was born in the last two fifths, and what was born in the last step alone may be in use. Where older blocks of the site live on, in a
    -- history that begins in the middle, what is freed says nothing of what isn't.
    open_site AS (
        SELECT
            a.heap_id AS heap_id,
            s.site_frame_id AS site_frame_id,
            sum(a.allocation_count) AS open_count,
            sum(a.size_bytes) AS open_bytes
        FROM z_outstanding_birth AS a
        JOIN heap AS h ON h.heap_id = a.heap_id
        JOIN seen AS w ON w.process_id = h.process_id
        LEFT JOIN stack AS s ON s.stack_id = a.stack_id
        LEFT JOIN z_site_lifetime AS l ON l.heap_id = a.heap_id AND l.site_frame_id IS s.site_frame_id
        LEFT JOIN z_site_verdict AS v ON v.heap_id = a.heap_id AND v.site_frame_id IS s.site_frame_id
        WHERE w.step_count >= (SELECT least FROM minimum WHERE judgement = 'leak')
            AND a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0
            AND a.generation > w.warm_up_count
            AND (NOT w.is_whole OR coalesce(v.verdict, '') <> 'bounded')
        GROUP BY a.heap_id, s.site_frame_id
        HAVING (max(w.step_count - a.generation) > coalesce(l.max_steps, -1) OR v.reason = 'older ones are freed'
            OR (l.max_steps * 2 >= w.step_count AND count(DISTINCT a.generation) >= CASE WHEN w.is_whole THEN 3 ELSE 1 END)
            OR (NOT w.is_whole AND min(a.generation) < w.step_count AND (a.heap_id, coalesce(s.site_frame_id, 0)) IN (SELECT heap_id, site_id FROM older_site)))
            AND (NOT w.is_whole OR (max(a.generation) > 0.6 * w.step_count AND min(a.generation) < w.step_count))
    ),
    run AS (
        SELECT
            sum(birth_count) AS birth_count,
            sum(outstanding_count) AS outstanding_count,
            sum(outstanding_bytes) AS outstanding_bytes,
            CASE WHEN min(is_whole) = 0 AND sum(live_bytes) > 0 THEN 1.0 * sum(born_bytes) / sum(live_bytes) END AS born_ratio,
            min(step_count) AS least_step_count,
            EXISTS (SELECT 1 FROM short) AS has_short,
            coalesce((SELECT sum(size_bytes) FROM suspect_by_site WHERE reason = 'stack cut'), 0) AS cut_bytes,
            (SELECT count(*) FROM open_site) AS open_site_count,
            (SELECT least FROM minimum WHERE judgement = 'leak') AS needed_count,
            EXISTS (SELECT 1 FROM finding WHERE kind = 'leak') AS has_leak
        FROM seen
    )
SELECT
    'not judged',
    'leak',
    CASE WHEN s.step_count > 0 THEN 'too few steps' ELSE 'no steps' END,
    s.host, s.rank, s.pid, NULL, NULL, NULL, NULL,
    'exact',
    NULL,
    NULL,
    said(
        CASE
            WHEN s.step_count > 0
                THEN say('screen.unjudged.early', 'seen', s.step_count, 'needed', needed_count, 'more', needed_count - s.step_count)
            ELSE say('screen.unjudged.stepless', 'needed', needed_count)
        END
    ),
    NULL,
    'suspect_by_site'
FROM short AS s
JOIN run
UNION ALL
SELECT
    'not judged',
    'leak',
    'no history',
    NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    'exact',
    NULL,
    NULL,
    said(say('screen.unjudged.history')),
    NULL,
    'heap_total'
FROM run
WHERE birth_count IS NULL AND NOT has_leak
UNION ALL
SELECT
    'not judged',
    'leak',
    'stack cut',
    NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    'exact',
    cut_bytes,
    NULL,
    said(say('screen.unjudged.cut', 'part_bytes', cut_bytes, 'all_bytes', outstanding_bytes)),
    NULL,
    'suspect_by_site'
FROM run
WHERE cut_bytes > 0 AND NOT has_leak
UNION ALL
SELECT
    'not judged',
    'leak',
    'not seen to end',
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    coalesce(f.label, '(no stack)'),
    'exact',
    o.open_bytes,
    o.open_count,
    said(
        say(
            'screen.unjudged.open',
            'n', (SELECT sum(open_count) FROM open_site),
            'open_bytes', (SELECT sum(open_bytes) FROM open_site)
        )
    ),
    NULL,
    'outstanding_by_site'
FROM open_site AS o
JOIN z_heap_place AS p ON p.heap_id = o.heap_id
LEFT JOIN frame AS f ON f.frame_id = o.site_frame_id
UNION ALL
SELECT
    'good',
    'leak',
    NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    'exact',
    outstanding_bytes,
    outstanding_count,
    said(
        CASE outstanding_count
            WHEN 0 THEN say('screen.fine.leaks')
            ELSE say('screen.fine.leaks_of', 'n', outstanding_count, 'all_bytes', outstanding_bytes)
        END
    ),
    said(
        said_line(
            NULL,
            CASE WHEN least_step_count > 0 THEN say('screen.rests.steps', 'n', least_step_count) END,
            say('screen.rests.births', 'n', birth_count),
            CASE WHEN born_ratio IS NOT NULL THEN say('screen.rests.born', 'ratio', born_ratio) END
        )
    ),
    'leak_by_site'
FROM run
WHERE NOT has_short AND birth_count > 0 AND open_site_count = 0 AND NOT has_leak AND cut_bytes * 2 <= outstanding_bytes;
