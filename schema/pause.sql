-- When a process was not recorded on purpose.

CREATE TABLE z_pause (
    -- When a process was not recorded in full (npumem-record --start-paused, --from-step, --ctl stop, npumem_pause): no
    -- copies, operations and stacks are here of that time. Steps, failures and samples are.
    --
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- Place of its begin in the order of events. NULL: in a part of the recording that was not kept.
    begin_seq INTEGER,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- Place of its end. NULL: it lasted until the process, or the recording, ended.
    end_seq INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: as end_seq.
    end_ns INTEGER,
    -- 1: allocations and frees of that time are here, without stacks; 0: only what they had led to at its end, at
    -- failures and at snapshots stands there, as if it had happened then.
    is_memory_told INTEGER NOT NULL,
    -- 0: what the pause led to is not known. NULL: it did not end.
    is_end_known INTEGER
);

CREATE INDEX pause_process ON z_pause (process_id, is_memory_told, end_seq, begin_seq);
