-- Their threads.

CREATE TABLE thread (
    -- One thread of a process.
    --
    -- Number of the thread in this database.
    thread_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- Thread number of the operating system. NULL: not known.
    tid INTEGER,
    -- Name. NULL: it has none.
    name TEXT
);
