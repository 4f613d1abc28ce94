-- Where what leaks and what is freed part: sites that are a helper of several callers. Looked at are the frames further out than the
-- site, up to 16, of at most 4,096 stacks of it; the nearest level at which what leaks goes through frames of which nothing was freed,
-- and what was freed through others. Read by 20_leak.sql.
-- Only if: SELECT EXISTS (SELECT 1 FROM z_leak_sum)
CREATE TEMP TABLE leak_through AS
WITH RECURSIVE
    shared AS (
        SELECT
            q.heap_id,
            s.site_frame_id
        FROM (SELECT DISTINCT heap_id, site_frame_id FROM z_leak_sum) AS l
        JOIN z_stack_sum AS q ON q.heap_id = l.heap_id
        JOIN stack AS s ON s.stack_id = q.stack_id AND s.site_frame_id = l.site_frame_id
        GROUP BY q.heap_id, s.site_frame_id
        HAVING sum(q.free_count) > 0 AND count(*) BETWEEN 2 AND 4096
    ),
    leaked AS (
        SELECT heap_id, stack_id, sum(leak_count) AS leak_count FROM z_leaked_sum GROUP BY heap_id, stack_id
    ),
    of_stack AS (
        SELECT
            q.heap_id,
            q.stack_id,
            s.site_frame_id,
            f.label AS site_label,
            q.allocation_count,
            q.free_count,
            coalesce(k.leak_count, 0) AS leak_count
        FROM shared AS h
        JOIN z_stack_sum AS q ON q.heap_id = h.heap_id
        JOIN stack AS s ON s.stack_id = q.stack_id AND s.site_frame_id = h.site_frame_id
        JOIN frame AS f ON f.frame_id = h.site_frame_id
        LEFT JOIN leaked AS k ON k.heap_id = q.heap_id AND k.stack_id = q.stack_id
    ),
    -- From the innermost frame out to the site, and on from there. level 0: not there yet; 1: the site.
    up (heap_id, stack_id, site_label, node_id, depth, level) AS (
        SELECT heap_id, stack_id, site_label, stack_id, 1, 0 FROM of_stack
        UNION ALL
        SELECT
            u.heap_id,
            u.stack_id,
            u.site_label,
            CASE WHEN u.level = 0 AND f.label = u.site_label THEN u.node_id ELSE n.parent_id END,
            u.depth + 1,
            CASE WHEN u.level = 0 THEN f.label = u.site_label ELSE u.level + 1 END
        FROM up AS u
        JOIN stack AS n ON n.stack_id = u.node_id
        JOIN frame AS f ON f.frame_id = n.frame_id
        WHERE u.depth < 80 AND u.level <= 16
    ),
    by_frame AS (
        SELECT
            a.heap_id,
            a.site_frame_id,
            u.level - 1 AS frames_out,
            coalesce(f.function, f.label) AS caller,
            sum(a.allocation_count) AS allocation_count,
            sum(a.free_count) AS free_count,
            sum(a.leak_count) AS leak_count
        FROM up AS u
        JOIN of_stack AS a ON a.heap_id = u.heap_id AND a.stack_id = u.stack_id
        JOIN stack AS n ON n.stack_id = u.node_id
        JOIN frame AS f ON f.frame_id = n.frame_id
        WHERE u.level > 1
        GROUP BY a.heap_id, a.site_frame_id, u.level, coalesce(f.function, f.label)
    ),
    -- All that leaks goes through such a level, and none of the frames there has both.
    parted AS (
        SELECT
            b.heap_id,
            b.site_frame_id,
            min(b.frames_out) AS frames_out
        FROM (
            SELECT
                heap_id,
                site_frame_id,
                frames_out,
                sum(leak_count) AS leak_count
            FROM by_frame
            GROUP BY heap_id, site_frame_id, frames_out
            HAVING max(leak_count > 0 AND free_count > 0) = 0 AND max(leak_count) > 0 AND max(free_count) > 0
        ) AS b
        WHERE b.leak_count = (
            SELECT sum(a.leak_count) FROM of_stack AS a WHERE a.heap_id = b.heap_id AND a.site_frame_id = b.site_frame_id
        )
        GROUP BY b.heap_id, b.site_frame_id
    ),
    placed AS (
        SELECT
            b.*,
            row_number() OVER (PARTITION BY b.heap_id, b.site_frame_id ORDER BY b.leak_count DESC, b.caller) AS leak_place,
            row_number() OVER (PARTITION BY b.heap_id, b.site_frame_id ORDER BY b.free_count DESC, b.caller) AS free_place
        FROM parted AS p
        JOIN by_frame AS b ON b.heap_id = p.heap_id AND b.site_frame_id = p.site_frame_id AND b.frames_out = p.frames_out
    )
SELECT
    p.host,
    p.rank,
    p.pid,
    p.device,
    p.heap,
    p.level,
    f.label AS site,
    k.caller,
    k.frames_out,
    k.allocation_count - k.free_count AS unfreed_count,
    k.allocation_count,
    o.caller AS other,
    o.free_count AS other_free_count
FROM placed AS k
JOIN placed AS o ON o.heap_id = k.heap_id AND o.site_frame_id = k.site_frame_id AND o.free_place = 1
JOIN z_heap_place AS p ON p.heap_id = k.heap_id
JOIN frame AS f ON f.frame_id = k.site_frame_id
WHERE k.leak_place = 1;
