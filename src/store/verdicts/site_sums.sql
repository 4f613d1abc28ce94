-- The least that was live of each site, and how long its blocks live. The replay knows stacks; when all of it has come, and each
-- stack has its site, the stacks of a site are summed up. (Its steps: site_steps.c.)

-- A stack's rows say values: what changed from one to the next adds up over the stacks of a site. The floors of a site are at least
-- the sum of its stacks'.
INSERT INTO z_site_floor
SELECT heap_id, site_frame_id, minute, sum(bytes) OVER w FROM (
    SELECT heap_id, site_frame_id, minute, sum(bytes) AS bytes FROM (
        SELECT t.heap_id, s.site_frame_id, t.minute, t.floor_bytes - lag(t.floor_bytes, 1, 0) OVER v AS bytes
        FROM temp.stack_floor AS t LEFT JOIN stack AS s ON s.stack_id = t.stack_id
        WHERE t.heap_id NOT IN (SELECT h.heap_id FROM heap AS h JOIN step ON step.process_id = h.process_id)
        WINDOW v AS (PARTITION BY t.heap_id, t.stack_id ORDER BY t.minute))
    GROUP BY heap_id, site_frame_id, minute)
WHERE bytes <> 0 WINDOW w AS (PARTITION BY heap_id, site_frame_id ORDER BY minute);

-- A bucket of 2^b ns holds lives up to 2^(b+1); none is longer than 2^63. In bucket -1 are those without times.
INSERT INTO z_site_lifetime
SELECT heap_id, site_frame_id, max(so_far + untimed), min(CASE WHEN 2 * so_far >= whole THEN most END),
    min(CASE WHEN 100.0 * so_far >= 99.0 * whole THEN most END), CASE WHEN max(whole) > 0 THEN max(max_ns) END,
    max(max_steps) FROM (
    SELECT heap_id, site_frame_id, CASE WHEN bucket >= 0 THEN 2 * (1 << min(bucket, 61)) END AS most, max_ns,
        max_steps, sum(CASE WHEN bucket >= 0 THEN freed_count ELSE 0 END) OVER v AS so_far,
        sum(CASE WHEN bucket >= 0 THEN freed_count ELSE 0 END) OVER w AS whole,
        sum(CASE WHEN bucket < 0 THEN freed_count ELSE 0 END) OVER w AS untimed FROM (
        SELECT t.heap_id, s.site_frame_id, t.bucket, sum(t.freed_count) AS freed_count, max(t.max_ns) AS max_ns,
            max(t.max_steps) AS max_steps
        FROM temp.stack_lifetime AS t LEFT JOIN stack AS s ON s.stack_id = t.stack_id
        GROUP BY t.heap_id, s.site_frame_id, t.bucket)
    WINDOW v AS (PARTITION BY heap_id, site_frame_id ORDER BY bucket),
        w AS (PARTITION BY heap_id, site_frame_id))
GROUP BY heap_id, site_frame_id;
