-- What the next steps will take.

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

-- catalog: first 14
CREATE VIEW forecast (
    -- Whether what a heap or a device holds grows from step to step, and when the device is full if it goes on like that:
    -- a line is fitted to the most that was held in each step after the first quarter of them. In doubt there is no trend.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device.
    device,
    -- Name of the heap. NULL: all driver memory of the process, or of all of them, on the device.
    heap,
    -- Level of the heap. NULL: as heap.
    level,
    -- 'allocated': what is live; 'reserved': what a pool holds of the driver's memory; 'device': what the driver has
    -- given to the process; 'all processes': to all recorded processes on the device, by the steps of this one; where
    -- there are others.
    measure,
    -- 'growing', or 'none': there is no trend.
    verdict,
    -- Why there is no trend, or why it is not known when the device is full. NULL: neither.
    reason,
    -- Slope of the line. Unit: bytes a step. NULL: too few steps.
    bytes_per_step,
    -- The line at the last step. Unit: bytes. NULL: too few steps.
    line_bytes,
    -- What it may grow to before the device is full, if all else on the device stays: of this process, of others, and what
    -- else the device said was in use. Unit: bytes. NULL: the size of the device is not known.
    limit_bytes,
    -- Steps from the last one until the device is full; 0: the line is there already. Unit: steps. NULL: no trend, or not
    -- known.
    steps_left,
    -- Number of that step, as the program counts. NULL: as steps_left.
    full_step,
    -- When that is, if steps go on to take as long. Unit: nanoseconds since the recording began. NULL: as steps_left, or
    -- times are not known.
    full_ns,
    -- Steps of the process that have ended. Unit: steps.
    step_count,
    -- Steps that the line was fitted to. Unit: steps. NULL: too few.
    fitted_count,
    -- Standard deviation of the steps from the line. Unit: bytes. NULL: too few steps.
    scatter_bytes,
    -- Slope over its own standard error. NULL: too few steps.
    t_value,
    -- What that has to be at least for a trend. NULL: too few steps.
    t_needed,
    -- 1: events were lost, or what was live before the recording is not known, so nothing is claimed; 0: nothing is missing.
    is_partial
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(device.physical_ordinal, device.ordinal),
    heap.name,
    heap_level.name,
    t.measure,
    t.verdict,
    t.reason,
    t.growth_bytes,
    t.line_bytes,
    t.limit_bytes,
    t.steps_left,
    t.full_step,
    t.full_ns,
    t.step_count,
    t.fitted_count,
    t.scatter_bytes,
    t.t_value,
    t.t_needed,
    input.events_dropped + input.events_damaged + input.events_unrecovered + (input.is_loss_exact = 0) > 0 OR input.baseline = 'unknown'
FROM z_step_trend AS t
JOIN device ON device.device_id = t.device_id
JOIN process ON process.process_id = device.process_id
JOIN input ON input.input_id = process.input_id
LEFT JOIN heap ON heap.heap_id = t.heap_id
LEFT JOIN heap_level ON heap_level.level = heap.level
ORDER BY t.verdict, t.steps_left IS NULL, t.steps_left, t.device_id, t.heap_id, t.measure;
