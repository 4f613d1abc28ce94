-- Sites of a process without steps that look like a leak, as in serving: blocks of them are born in all parts of the run behind its
-- first tenth, as many late as early, none was ever freed, and the process frees others meanwhile. It is judged by nobody. What a model
-- is made of looks alike, but little is freed while a pool gets it; so does what one pass makes, within a call of a module.
-- Only if: SELECT EXISTS (SELECT 1 FROM finding WHERE kind = 'leak' AND reason = 'no steps')
INSERT INTO finding (
    severity, kind, reason, host, rank, pid, device, heap, level, site, basis, bytes, count, sentence, source_view
)
WITH RECURSIVE
    kept AS (
        SELECT
            a.heap_id AS heap_id,
            s.site_frame_id AS site_frame_id,
            sum(a.allocation_count) AS kept_count,
            sum(a.size_bytes) AS kept_bytes,
            count(DISTINCT a.generation) AS part_count,
            count(DISTINCT CASE WHEN a.generation BETWEEN 2 AND 9 THEN a.generation END) AS early_part_count,
            count(DISTINCT CASE WHEN a.generation BETWEEN 10 AND 18 THEN a.generation END) AS late_part_count,
            sum(CASE WHEN a.generation BETWEEN 2 AND 9 THEN a.allocation_count END) AS early_count,
            sum(CASE WHEN a.generation BETWEEN 10 AND 18 THEN a.allocation_count END) AS late_count
        FROM z_outstanding_birth AS a
        JOIN heap AS h ON h.heap_id = a.heap_id
        JOIN stack AS s ON s.stack_id = a.stack_id
        JOIN frame AS f ON f.frame_id = s.site_frame_id
        WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private = 0 AND f.is_cut = 0
            AND NOT EXISTS (SELECT 1 FROM step AS t WHERE t.process_id = h.process_id)
            AND NOT EXISTS (
                SELECT 1
                FROM z_site_lifetime AS l
                WHERE l.heap_id = a.heap_id AND l.site_frame_id = s.site_frame_id AND l.freed_count > 0
            )
            AND NOT EXISTS (SELECT 1 FROM z_leak_sum AS l WHERE l.heap_id = a.heap_id AND l.site_frame_id = s.site_frame_id)
        GROUP BY a.heap_id, s.site_frame_id
        HAVING early_part_count >= 4 AND late_part_count >= 4 AND late_count * 5 >= early_count * 4
    ),
    caller (site_frame_id, stack_id) AS (
        SELECT k.site_frame_id, s.stack_id
        FROM kept AS k
        JOIN stack AS s ON s.site_frame_id = k.site_frame_id
        UNION
        SELECT c.site_frame_id, s.parent_id
        FROM caller AS c
        JOIN stack AS s ON s.stack_id = c.stack_id
        WHERE s.parent_id IS NOT NULL
    ),
    pass_site AS (
        SELECT DISTINCT c.site_frame_id AS site_frame_id
        FROM caller AS c
        JOIN stack AS s ON s.stack_id = c.stack_id
        JOIN frame AS f ON f.frame_id = s.frame_id
        WHERE f.function IN ('forward', '_call_impl', '_wrapped_call_impl')
    ),
    suspect AS (
        SELECT k.*, sum(k.kept_count) OVER (PARTITION BY k.heap_id) AS all_count
        FROM kept AS k
        WHERE k.site_frame_id NOT IN (SELECT m.site_frame_id FROM pass_site AS m)
    ),
    freed AS (
        SELECT h.process_id AS process_id, sum(t.free_count) AS free_count
        FROM z_heap_sum AS t
        JOIN heap AS h ON h.heap_id = t.heap_id
        GROUP BY h.process_id
    )
SELECT
    'not judged',
    'suspect',
    'no steps',
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    f.label,
    'exact',
    k.kept_bytes,
    k.kept_count,
    said(say('screen.suspect', 'n', k.kept_count, 'kept_bytes', k.kept_bytes, 'born', k.part_count)),
    'suspect_by_site'
FROM suspect AS k
JOIN z_heap_place AS p ON p.heap_id = k.heap_id
JOIN frame AS f ON f.frame_id = k.site_frame_id
JOIN heap AS h ON h.heap_id = k.heap_id
JOIN freed AS u ON u.process_id = h.process_id
WHERE u.free_count >= k.all_count * CASE h.level WHEN 2 THEN 4 ELSE 0.5 END
ORDER BY k.kept_bytes DESC, k.heap_id, k.site_frame_id;
