-- The least that was live of each site. The replay knows stacks; when all of it has come, and each stack has its site, the stacks of a
-- site are summed up. (Its steps: site_steps.c; how long its blocks live: site_lifetimes.c.)

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
