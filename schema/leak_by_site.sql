-- What leaks, by site.

CREATE TABLE z_leaked_sum (
    -- How many of the allocations of a row of z_outstanding_sum are called a leak, and why. Of a site that grows what was
    -- there before the first step is none; and of what was born in the first step no more than are born of the like in a
    -- later one: weights and state are made then. Shown by the view leak.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Size of each. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- As allocation.generation.
    generation INTEGER NOT NULL,
    -- 'growing', 'rising' or 'unreleased'.
    verdict TEXT NOT NULL,
    -- Leaked allocations: the youngest of them. Unit: allocations.
    leak_count INTEGER NOT NULL
);

CREATE TABLE z_leak_sum (
    -- Sums of z_leaked_sum by site and verdict. Shown by the view leak_by_site.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- 'growing', 'rising' or 'unreleased'.
    verdict TEXT NOT NULL,
    -- Allocations. Unit: allocations.
    allocation_count INTEGER NOT NULL,
    -- Their size. Unit: bytes.
    size_bytes INTEGER NOT NULL,
    -- In how many generations they were born. Unit: generations.
    generation_count INTEGER NOT NULL,
    -- The first of those.
    first_generation INTEGER NOT NULL,
    -- The last of those.
    last_generation INTEGER NOT NULL,
    -- Birth of the first in the order of events, of those after input.detail_begin_seq. NULL: there are none.
    first_seq INTEGER,
    -- Birth of the last in the order of events. NULL: before input.detail_begin_seq.
    last_seq INTEGER,
    -- Birth of the oldest. Unit: nanoseconds since the recording began. NULL: not known.
    first_ns INTEGER,
    -- End of the process or, where that was not seen, the last event of its memory. Unit: nanoseconds since the recording
    -- began. NULL: not known.
    end_ns INTEGER,
    -- How many of them had lived longer, by end_ns, than 99 % of the freed blocks of their site did. Unit: allocations. NULL: none was
    -- freed, or times are unknown.
    outlier_count INTEGER
);

CREATE INDEX leaked_sum_heap ON z_leaked_sum (heap_id, stack_id, generation, size_bytes);

-- catalog: first 3, in csv
CREATE VIEW leak_by_site (
    -- Leaks, summed by site and verdict; largest first.
    --
    -- begin place
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Number of the device. NULL: host memory.
    device,
    -- Name of the heap.
    heap,
    -- Level of the heap.
    level,
    -- end place
    -- Where: 'file:line function', 'module+0xoffset function' or '(no stack)'.
    site,
    -- 'growing', 'rising' or 'unreleased'.
    verdict,
    -- Leaked allocations. Unit: allocations.
    leak_count,
    -- Their size. Unit: bytes.
    leak_bytes,
    -- In how many steps (twentieths of the trace, where steps are unknown) they were born. Unit: generations.
    generation_count,
    -- leak_bytes over the steps from the first leaked birth to the last. Unit: bytes. NULL: steps are unknown.
    bytes_per_step,
    -- Birth of the first in the order of events, of those after input.detail_begin_seq. NULL: there are none.
    first_seq,
    -- Birth of the last in the order of events. NULL: before input.detail_begin_seq.
    last_seq,
    -- Growth of the whole site, freed blocks and all: slope of the line of least squares through what was live at the ends
    -- of the steps, the last step left out. Unit: bytes per step. NULL: fewer than three steps, or it was not there before
    -- the last, or events were lost.
    growth_bytes_per_step,
    -- The same of the number of live allocations. Unit: allocations per step. NULL: as there.
    growth_count_per_step,
    -- How steady the growth is: share of the changes in bytes that the line explains. Unit: 0 to 1. NULL: not known, or
    -- nothing changed.
    growth_fit_ratio,
    -- Steps that began since the oldest of them was born. Unit: steps. NULL: steps are unknown.
    oldest_age_steps,
    -- Age of the oldest at the end of the process, or where that was not seen at the last event of its memory. Unit: nanoseconds. NULL: not known.
    oldest_age_ns,
    -- Blocks of the site that were freed. Unit: allocations. NULL: not known.
    freed_count,
    -- 99 % of those lived no longer. Unit: nanoseconds. NULL: none was freed, or times are unknown.
    freed_p99_at_most_ns,
    -- The most steps that began in the life of a freed one. Unit: steps. NULL: none was freed, or not known.
    freed_max_steps,
    -- Of the leaked ones, how many have lived longer than 99 % of the freed ones did. Unit: allocations. NULL: none was
    -- freed, or times are unknown.
    outlier_count,
    -- How much the floor of what is live of the site at the ends of steps rises over their last two fifths; of three to
    -- seven steps: by how much it rises in the middle one; where it outlives what is freed: how much of it is born in a step.
    -- Unit: bytes per step. NULL: not growing.
    late_bytes_per_step,
    -- How much the floor of what is live of the site rises over the last two fifths of the time. Unit: bytes per hour. NULL:
    -- not rising.
    bytes_per_hour,
    -- When the device is full if it goes on like that, from the most that the heap ever held. Unit: hours. NULL: not rising,
    -- or the size of the device is not known.
    hours_left,
    -- What speaks for the verdict, in words.
    evidence,
    -- 1: something of the recording was lost, or not kept, or had begun before it: figures over steps and of what was
    -- freed are of a part; 0: all is here.
    is_partial,
    -- The stack of the site by which most of them was allocated: view stack_text, npumem stack. NULL: no stack was recorded.
    top_stack_id,
    -- Blocks of the site from before the recording began that live at its end, as far as their stacks are known: they are no
    -- part of leak_count. Unit: allocations.
    older_count,
    -- Their size. Unit: bytes.
    older_bytes
) AS
SELECT
    p.host, p.rank, p.pid, p.device, p.heap, p.level,
    coalesce(f.label, '(no stack)'),
    l.verdict,
    l.allocation_count,
    l.size_bytes,
    l.generation_count,
    CASE WHEN steps.step_count IS NOT NULL THEN l.size_bytes / (l.last_generation - l.first_generation + 1) END,
    l.first_seq,
    l.last_seq,
    CASE WHEN k.lost_count = 0 THEN g.growth_bytes_per_step END,
    CASE WHEN k.lost_count = 0 THEN g.growth_count_per_step END,
    CASE WHEN k.lost_count = 0 THEN g.growth_fit_ratio END,
    steps.step_count - l.first_generation,
    l.end_ns - l.first_ns,
    coalesce(t.freed_count, CASE WHEN u.free_count = 0 THEN 0 END),
    t.p99_at_most_ns,
    CASE WHEN steps.step_count IS NOT NULL THEN t.max_steps END,
    CASE WHEN t.p99_at_most_ns IS NOT NULL THEN l.outlier_count END,
    CASE WHEN l.verdict = 'growing' THEN v.growth_bytes END,
    CASE WHEN l.verdict = 'rising' THEN v.hourly_bytes END,
    CASE
        WHEN l.verdict = 'rising' THEN max(0.0, 1.0 * device.capacity_bytes
            - max(x.peak_bytes, coalesce(x.peak_reserved_bytes, 0))) / v.hourly_bytes
    END,
    CASE l.verdict
        WHEN 'rising' THEN printf('the least that is live of the site still rises over the last two fifths of the time, by %.0f'
            || ' bytes an hour, although the load fell; live at the end: %d block%s, without those of the first and of the'
            || ' last twentieth of the time', v.hourly_bytes, l.allocation_count,
            CASE l.allocation_count WHEN 1 THEN '' ELSE 's' END)
        WHEN 'unreleased' THEN 'still held when the process ended by itself, which ' || CASE
                WHEN x.released_count > 0
                    AND (x.released_count >= x.outstanding_count OR x.released_bytes >= x.outstanding_bytes)
                    THEN printf('at its end freed %d bytes of the heap that were there for long', x.released_bytes)
                ELSE printf('had freed %d other%s of the site, none of the same stack so old', t.freed_count,
                    CASE t.freed_count WHEN 1 THEN '' ELSE 's' END)
            END
        WHEN 'growing' THEN printf('%d block%s born in %d of %d steps %s never freed; %s %.0f bytes a step',
                l.allocation_count, CASE l.allocation_count WHEN 1 THEN '' ELSE 's' END, l.generation_count,
                steps.step_count, CASE l.allocation_count WHEN 1 THEN 'was' ELSE 'were' END, CASE
                    WHEN v.verdict <> 'growing'
                        THEN 'of the size about as many are left of each fifth of the steps, and the heap grows by them:'
                    WHEN steps.step_count < 8 THEN 'what is live of the site rises at the end of each, by'
                    WHEN v.reason = 'it outlives what is freed'
                        THEN 'of all parts of the run about as many are more than twice as old as any that was freed:'
                    ELSE 'what is live of the site still rises over the last two fifths of them, by'
                END, v.growth_bytes)
            || CASE
                WHEN g.growth_bytes_per_step IS NULL OR k.lost_count > 0 THEN ''
                ELSE printf('; over all of them the line of its growth has a fit of %.2f',
                    coalesce(g.growth_fit_ratio, 0.0))
            END
            || CASE
                WHEN t.freed_count > 0 AND l.outlier_count > 0
                    THEN printf('; %d of them %s older than 99 %% of its %d freed block%s became', l.outlier_count,
                        CASE l.outlier_count WHEN 1 THEN 'is' ELSE 'are' END, t.freed_count,
                        CASE t.freed_count WHEN 1 THEN '' ELSE 's' END)
                WHEN u.free_count = 0 AND (k.lost_count > 0 OR input.baseline = 'unknown')
                    THEN '; no free of a block of the site is in the trace'
                WHEN u.free_count = 0 THEN '; no block of the site was ever freed'
                ELSE ''
            END
            || CASE
                WHEN k.lost_count > 0 THEN '; events were lost, so only what is beyond doubt counts'
                WHEN input.baseline = 'unknown'
                    THEN '; the recording began late, so frees of what was there before do not count'
                ELSE ''
            END
    END,
    input.is_complete = 0 OR input.baseline = 'unknown' OR input.detail_begin_seq IS NOT NULL,
    top.stack_id,
    coalesce(older.live_count, 0),
    coalesce(older.live_bytes, 0)
FROM z_leak_sum AS l
JOIN z_heap_place AS p ON p.heap_id = l.heap_id
JOIN process ON process.process_id = p.process_id
JOIN input ON input.input_id = process.input_id
JOIN (
    SELECT
        input.input_id,
        input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0) AS lost_count
    FROM input
) AS k ON k.input_id = input.input_id
JOIN z_heap_sum AS x ON x.heap_id = l.heap_id
JOIN heap AS y ON y.heap_id = l.heap_id
LEFT JOIN device ON device.device_id = y.device_id
LEFT JOIN z_warm_up AS steps ON steps.process_id = p.process_id
LEFT JOIN z_site_verdict AS v ON v.heap_id = l.heap_id AND v.site_frame_id IS l.site_frame_id
LEFT JOIN z_site_growth AS g ON g.heap_id = l.heap_id AND g.site_frame_id IS l.site_frame_id
LEFT JOIN z_site_lifetime AS t ON t.heap_id = l.heap_id AND t.site_frame_id IS l.site_frame_id
LEFT JOIN (
    SELECT
        q.heap_id,
        z.site_frame_id,
        sum(q.free_count) AS free_count
    FROM z_stack_sum AS q
    LEFT JOIN stack AS z ON z.stack_id = q.stack_id
    GROUP BY q.heap_id, z.site_frame_id
) AS u ON u.heap_id = l.heap_id AND u.site_frame_id IS l.site_frame_id
LEFT JOIN (
    SELECT
        q.heap_id,
        z.site_frame_id,
        q.verdict,
        q.stack_id,
        row_number() OVER (
            PARTITION BY q.heap_id, z.site_frame_id, q.verdict
            ORDER BY sum(q.leak_count * q.size_bytes) DESC, q.stack_id
        ) AS place
    FROM z_leaked_sum AS q
    JOIN stack AS z ON z.stack_id = q.stack_id
    GROUP BY q.heap_id, q.verdict, q.stack_id
) AS top ON top.heap_id = l.heap_id AND top.site_frame_id IS l.site_frame_id AND top.verdict = l.verdict AND top.place = 1
-- begin older l
LEFT JOIN (
    SELECT
        q.heap_id,
        z.site_frame_id,
        sum(q.live_count) AS live_count,
        sum(q.live_bytes) AS live_bytes
    FROM z_older_blocks AS q
    JOIN stack AS z ON z.stack_id = q.stack_id
    GROUP BY q.heap_id, z.site_frame_id
) AS older ON older.heap_id = l.heap_id AND older.site_frame_id IS l.site_frame_id
-- end older
LEFT JOIN frame AS f ON f.frame_id = l.site_frame_id
ORDER BY l.size_bytes DESC, l.first_seq;
