-- What the recorded processes were told, and what they ran on.

CREATE TABLE z_process_environment (
    -- What a process was told, and what it ran on: settings that change how its memory behaves.
    --
    -- Number of the entry in this database.
    entry_id INTEGER PRIMARY KEY,
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- 'environment': a variable of a fixed list, as it was when the process recorded its first event (see
    -- docs/recorder.md); 'version': what it ran on, as files of the host say; 'hccl': a communicator that it made.
    source TEXT NOT NULL,
    -- Name of the variable, of what has the version; of a communicator what it is for.
    name TEXT,
    -- Its value; of a communicator the process's rank in it and how many it has, 'rank 1 of 4'.
    value TEXT
);

CREATE VIEW z_environment (
    -- Settings of each process that change how its memory behaves, and the versions of what it ran on.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Always NULL: a setting is not of one device.
    device,
    -- Always NULL: a setting is not of one heap.
    heap,
    -- Always NULL: a setting is not of one level.
    level,
    -- 'environment': a variable of a fixed list; 'version': what it ran on, as files of the host say; 'hccl': a communicator.
    source,
    -- Name of the variable, of what has the version; of a communicator what it is for.
    name,
    -- Its value; of a communicator the process's rank in it and how many it has, 'rank 1 of 4'.
    value
) AS
SELECT
    p.host, p.rank, p.pid,
    NULL,
    NULL,
    NULL,
    e.source,
    e.name,
    e.value
FROM z_process_environment AS e
LEFT JOIN process AS p ON p.process_id = e.process_id
ORDER BY e.source DESC, e.name, e.value, e.entry_id;
