-- Where in view allocation the rows of a time stand.

CREATE TABLE z_birth_part (
    -- Allocations of each heap by parts of 4,096 numbers of rows: between which places and times they were born and ended. What
    -- lived long is a row of its own here besides, and the ends of its part leave it out: so few rows say where to look for
    -- what was live at a moment.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- 1: one allocation that lived long, by the number of events; 0: a part.
    is_long INTEGER NOT NULL,
    -- Its first row.
    first_id INTEGER NOT NULL REFERENCES z_allocation (allocation_id),
    -- Its last one.
    last_id INTEGER NOT NULL REFERENCES z_allocation (allocation_id),
    -- Place of the first birth in the order of events. NULL: something was there before the recording began.
    first_seq INTEGER,
    -- Place of the last birth. NULL: all of it was there before.
    last_seq INTEGER,
    -- The earliest birth. Unit: nanoseconds since the recording began. NULL: not known of all.
    first_ns INTEGER,
    -- Place of the last end. -1: all of it lived long. NULL: something did not end.
    end_seq INTEGER,
    -- The latest end. Unit: nanoseconds since the recording began. NULL: not known of all, or something did not end.
    end_ns INTEGER,
    -- How many calls have a known cost. Unit: calls.
    cost_count INTEGER NOT NULL,
    PRIMARY KEY (heap_id, is_long, first_id)
) WITHOUT ROWID;
