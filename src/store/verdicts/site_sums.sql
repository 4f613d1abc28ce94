-- How much of each site was live step by step, and how long its blocks live. The replay knows stacks; when all of it has come,
-- and each stack has its site, the stacks of a site are summed up and a line is fitted through its steps.

-- A stack's rows say values: what changed from one to the next adds up over the stacks of a site.
INSERT INTO _site_step
SELECT heap_id, site_frame_id, generation, lead(generation) OVER w, sum(bytes) OVER w, sum(blocks) OVER w FROM (
    SELECT heap_id, site_frame_id, generation, sum(bytes) AS bytes, sum(blocks) AS blocks FROM (
        SELECT t.heap_id, s.site_frame_id, t.generation,
            t.live_bytes - lag(t.live_bytes, 1, 0) OVER v AS bytes,
            t.live_count - lag(t.live_count, 1, 0) OVER v AS blocks
        FROM temp.stack_step AS t LEFT JOIN stack AS s ON s.stack_id = t.stack_id
        WINDOW v AS (PARTITION BY t.heap_id, t.stack_id ORDER BY t.generation))
    GROUP BY heap_id, site_frame_id, generation)
WHERE bytes <> 0 OR blocks <> 0
WINDOW w AS (PARTITION BY heap_id, site_frame_id ORDER BY generation);

-- The same of floors. Those of a site are at least the sum of its stacks'.
INSERT INTO _site_floor
SELECT heap_id, site_frame_id, minute, sum(bytes) OVER w FROM (
    SELECT heap_id, site_frame_id, minute, sum(bytes) AS bytes FROM (
        SELECT t.heap_id, s.site_frame_id, t.minute, t.floor_bytes - lag(t.floor_bytes, 1, 0) OVER v AS bytes
        FROM temp.stack_floor AS t LEFT JOIN stack AS s ON s.stack_id = t.stack_id
        WHERE t.heap_id NOT IN (SELECT h.heap_id FROM heap AS h JOIN step ON step.process_id = h.process_id)
        WINDOW v AS (PARTITION BY t.heap_id, t.stack_id ORDER BY t.minute))
    GROUP BY heap_id, site_frame_id, minute)
WHERE bytes <> 0 WINDOW w AS (PARTITION BY heap_id, site_frame_id ORDER BY minute);

-- Least squares over the steps x = 1 .. n that the trace has of a process, without the last one. A row of _site_step holds
-- for the steps from x1 to x2; before the first row the site held nothing. REAL throughout: the sums pass 2^63.
INSERT INTO _site_growth
SELECT heap_id, site_frame_id, CAST(n AS INTEGER), (n * sxy - sx * sy) / (n * sxx - sx * sx),
    (n * sxc - sx * sc) / (n * sxx - sx * sx),
    CASE WHEN n * syy - sy * sy > 0 THEN
        min(1.0, (n * sxy - sx * sy) * (n * sxy - sx * sy) / ((n * sxx - sx * sx) * (n * syy - sy * sy))) END
FROM (SELECT heap_id, site_frame_id, n, n * (n + 1) / 2 AS sx, n * (n + 1) * (2 * n + 1) / 6 AS sxx,
        sum(y * k) AS sy, sum(y * y * k) AS syy, sum(c * k) AS sc,
        sum(y * k * (x1 + x2) / 2) AS sxy, sum(c * k * (x1 + x2) / 2) AS sxc
    FROM (SELECT heap_id, site_frame_id, n, y, c, x1, x2, x2 - x1 + 1 AS k FROM (
        SELECT t.heap_id, t.site_frame_id, p.n, CAST(t.live_bytes AS REAL) AS y, CAST(t.live_count AS REAL) AS c,
            max(1.0, t.generation - p.first + 1.0) AS x1,
            min(p.n, coalesce(t.until_generation - p.first, p.n)) AS x2
        FROM _site_step AS t JOIN heap AS h ON h.heap_id = t.heap_id
        JOIN (SELECT process_id, min(generation) AS first, CAST(max(generation) - min(generation) AS REAL) AS n
            FROM step GROUP BY process_id) AS p ON p.process_id = h.process_id
        WHERE p.n >= 2)
    WHERE x2 >= x1)
    GROUP BY heap_id, site_frame_id);

-- A bucket of 2^b ns holds lives up to 2^(b+1); none is longer than 2^63. In bucket -1 are those without times.
INSERT INTO _site_lifetime
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
