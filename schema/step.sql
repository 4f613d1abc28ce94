-- The iterations of a process.

CREATE TABLE step (
    -- A step of a training loop, as the program said, or as a place that recurs once in each tells: see source.
    --
    -- Number of the row.
    step_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- Its device. NULL: all of the process.
    device_id INTEGER REFERENCES device (device_id),
    -- Number of the step, as the program counts; of inferred ones from 1.
    number INTEGER NOT NULL,
    -- Place of its begin in the order of events.
    begin_seq INTEGER,
    -- Place of the event that ended it: the next step, or the end of the process. NULL: neither is in this trace.
    end_seq INTEGER,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known.
    end_ns INTEGER,
    -- How many steps of the process had begun with it, those before the detail included: as allocation.generation.
    generation INTEGER NOT NULL,
    -- 'marked': the program said where it begins; 'inferred': npumem-ingest found where steps begin (view step_origin).
    source TEXT NOT NULL
);

CREATE INDEX step_process ON step (process_id, number);
CREATE INDEX step_generation ON step (process_id, generation, number, source);
CREATE INDEX step_begin ON step (process_id, begin_seq);
