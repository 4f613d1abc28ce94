-- Where steps come from.

CREATE TABLE z_step_anchor (
    -- How it is known where the steps of a process begin; a row for each process that allocated memory of a device, unless
    -- npumem-ingest --step-at none was asked for. Shown by the view step_origin.
    --
    -- The process.
    process_id INTEGER PRIMARY KEY REFERENCES process (process_id),
    -- 'marked': the program says so; 'site': where a place that recurs once in each iteration allocates; 'range': where a
    -- range of a name begins; 'optimizer': with the first allocation after an optimizer's step that follows a backward
    -- pass; 'graph': where a graph is executed after those before were waited for; 'none': it is not known.
    kind TEXT NOT NULL,
    -- 1: npumem-ingest --step-at named the place; 0: it was found.
    is_given INTEGER NOT NULL,
    -- 1: a backward pass or an optimizer was seen to run in the process; 0: not, as in a server.
    is_trained INTEGER NOT NULL,
    -- The place: a stack that allocates, or executes a graph; where none was found, the one that came nearest. NULL: a range, or no place.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The range: its name, or the first of those that differ in a number at the end. NULL: no range.
    name TEXT,
    -- Steps that begin there, or that are marked. Unit: steps.
    step_count INTEGER NOT NULL,
    -- How often the place was met while looking for it. Unit: occurrences. NULL: no place.
    recur_count INTEGER,
    -- Share of the distances from one occurrence to the next that are alike, in number and in what is allocated in them.
    -- Unit: 0 to 1. NULL: not known.
    regular_ratio REAL,
    -- Allocations from one occurrence to the next, as they mostly are; of a range also operators. Unit: allocations. NULL: not known.
    allocation_count INTEGER,
    -- Why this place, or why none: one line.
    reason TEXT NOT NULL
);

CREATE TABLE z_step_trend (
    -- A straight line through what each heap of a device, and each device, held at most in each step: without the first
    -- quarter of the steps, which is warm-up, and without a last step that did not end. Steps in which a heap did nothing
    -- count with what it held, and what graphs held in the last step of it is taken for what they held in each. Shown by the
    -- view forecast.
    --
    -- The device.
    device_id INTEGER NOT NULL REFERENCES device (device_id),
    -- The heap. NULL: driver memory of the process on the device, all heaps of it together.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- 'allocated': z_step_sum.peak_bytes; 'reserved': z_step_sum.peak_reserved_bytes of a pool, where it is known; 'device':
    -- peak_bytes of all driver heaps, added up; 'all processes': that, and what other recorded processes held of the same
    -- hardware at the end of each step, where there are others.
    measure TEXT NOT NULL,
    -- Steps of the process that have ended. Unit: steps.
    step_count INTEGER NOT NULL,
    -- Steps that the line was fitted to. Unit: steps. NULL: too few.
    fitted_count INTEGER,
    -- Slope of the line. Unit: bytes a step. NULL: too few steps.
    growth_bytes REAL,
    -- The line at the last step. Unit: bytes. NULL: too few steps.
    line_bytes INTEGER,
    -- Standard deviation of the steps from the line. Unit: bytes. NULL: too few steps.
    scatter_bytes INTEGER,
    -- The slope over its own standard error, where a step that lies off the line as the step before does counts for less.
    -- NULL: too few steps.
    t_value REAL,
    -- What it has to be at least: 3 + 12 / degrees of freedom. NULL: too few steps.
    t_needed REAL,
    -- 'growing', or 'none'.
    verdict TEXT NOT NULL,
    -- Why there is no trend, or why it is not known when the device is full. NULL: neither.
    reason TEXT,
    -- What it may grow to before the device is full, if all else stays: what the process and other recorded processes held
    -- in the last step, and what the device said that was in use beyond that when it was asked last. Unit: bytes. NULL: the
    -- size of the device is not known.
    limit_bytes INTEGER,
    -- Steps from the last one until the line reaches limit_bytes; 0: it has. Unit: steps. NULL: no trend, or not known.
    steps_left INTEGER,
    -- Number of that step, as the program counts. NULL: as steps_left.
    full_step INTEGER,
    -- When that is, if steps go on to take as long. Unit: nanoseconds since the recording began. NULL: as steps_left, or
    -- times are not known.
    full_ns INTEGER
);
