-- The programs.

CREATE TABLE process (
    -- One process of the recorded tree.
    --
    -- Number of the process in this database.
    process_id INTEGER PRIMARY KEY,
    -- The input that it came from.
    input_id INTEGER NOT NULL REFERENCES input (input_id),
    -- The process that started it. NULL: not recorded.
    parent_id INTEGER REFERENCES process (process_id),
    -- Process number of the operating system. NULL: not known.
    pid INTEGER,
    -- Name of the machine. NULL: not known.
    host TEXT,
    -- Rank of the process in a distributed job; where no process of the input says one, that of the file's name
    -- (snapshot_rank3.pickle). NULL: none.
    rank INTEGER,
    -- Rank among the processes of this host. NULL: none.
    local_rank INTEGER,
    -- Arguments, joined by spaces. NULL: not known.
    command TEXT,
    -- 'host' or 'device': on which side the program ran. NULL: not known.
    run_mode TEXT,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known, or it still ran.
    end_ns INTEGER,
    -- 'exit', 'signal', 'exec' (it became another program) or 'running' (its end was not seen).
    end_kind TEXT NOT NULL,
    -- Exit status, or number of the signal. NULL: not known.
    end_status INTEGER,
    -- Number of processes in the distributed job. NULL: not known.
    world_size INTEGER
);
