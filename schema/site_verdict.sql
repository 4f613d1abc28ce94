-- What tells a leak from what is merely held: how much of each site was live step by step, and how long its blocks live.

CREATE TABLE z_site_growth (
    -- Growth of a site: the line of least squares through what was live at the ends of the steps. The last step is left
    -- out, for the end of the program or a crash cuts it. No row with fewer than two steps left, or of a site that was not
    -- there before the last.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- Steps that the line goes through. Unit: steps.
    step_count INTEGER NOT NULL,
    -- Slope. Unit: bytes per step.
    growth_bytes_per_step REAL NOT NULL,
    -- Slope of the number of live allocations. Unit: allocations per step.
    growth_count_per_step REAL NOT NULL,
    -- Share of the changes in bytes that the line explains (the square of the correlation): 1 is steady growth. Unit: 0 to
    -- 1. NULL: nothing changed.
    growth_fit_ratio REAL
);

CREATE TABLE z_site_floor (
    -- The least that was live of a site minute by minute, in a process without steps; only where it was not what the row
    -- before it says. Of long runs fewer and fewer minutes are told, then it is the least since the one before. The baseline
    -- and what graphs held are left out. From it servers are judged (z_site_verdict).
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- The minute since the recording began, from 0.
    minute INTEGER NOT NULL,
    -- Least that was live of it then, the stacks of the site by themselves and added up. Unit: bytes.
    floor_bytes INTEGER NOT NULL
);

CREATE TABLE z_site_verdict (
    -- What is said of each site of which something is outstanding, and why. No row: nothing speaks for growth (weights, or
    -- what is made once). Shown by the views leak_by_site and suspect_by_site.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- Firm: 'growing' (steps are known, and what is live of the site at their ends still rises over their last two fifths, or
    -- of all parts of the run as much is still there and more than twice as old as any block that was freed),
    -- 'rising' (a server: no steps, and over the last two fifths of at least half an hour the floor of what is live of the
    -- site still rises, although the load of the heap fell twice or more).
    -- Not firm: 'bounded', 'not judged'.
    verdict TEXT NOT NULL,
    -- Why, one of a fixed list; see view suspect_by_site.
    reason TEXT NOT NULL,
    -- By how much its floor rises over the last two fifths of the steps; of three to seven steps by how much it rises in the
    -- middle one; where it outlives what is freed, or is of single sizes that grow, whatever is said of the site: how much of it is born in a step.
    -- Unit: bytes a step. NULL: it does not grow, or steps are not known.
    growth_bytes REAL,
    -- By how much its floor rises over the last two fifths of the time. Unit: bytes an hour. NULL: not rising.
    hourly_bytes REAL
);

CREATE TABLE z_site_lifetime (
    -- How long the freed blocks of a site had lived.
    --
    -- The heap.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The site. NULL: no stack was recorded.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- Blocks that were freed. Unit: allocations.
    freed_count INTEGER NOT NULL,
    -- At least half of them lived no longer: a power of two. Unit: nanoseconds. NULL: times are unknown.
    median_at_most_ns INTEGER,
    -- At least 99 % of them lived no longer: a power of two. Unit: nanoseconds. NULL: times are unknown.
    p99_at_most_ns INTEGER,
    -- The longest life. Unit: nanoseconds. NULL: times are unknown.
    max_ns INTEGER,
    -- The most steps that began in the life of one. Unit: steps.
    max_steps INTEGER NOT NULL
);

CREATE INDEX site_growth_heap ON z_site_growth (heap_id, site_frame_id);
CREATE INDEX site_lifetime_heap ON z_site_lifetime (heap_id, site_frame_id);
CREATE INDEX site_verdict_heap ON z_site_verdict (heap_id, site_frame_id);
