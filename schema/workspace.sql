-- Every workspace that an operator asked for.

-- catalog: row an event
CREATE TABLE workspace (
    -- One run of an operator that was given a workspace. A large table: integers only.
    --
    -- Number of the row.
    workspace_id INTEGER PRIMARY KEY,
    -- The operator.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- The block that the workspace lay in, whole. NULL: no recorded block held it, or another thread ran the operator
    -- than allocated the block and it is not certain that this is still the one.
    allocation_id INTEGER REFERENCES z_allocation (allocation_id),
    -- The thread that ran the operator. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Stream that it ran on. NULL: not known.
    stream INTEGER,
    -- Place of the operator's begin in the order of events.
    seq INTEGER,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- First address of the workspace; views show it as hexadecimal text.
    address INTEGER,
    -- What the operator was given. Unit: bytes.
    requested_bytes INTEGER NOT NULL,
    -- Size of the block. Unit: bytes. NULL: the block is not known.
    block_bytes INTEGER,
    -- 1: the block had served an operator before; 0: not. NULL: the block is not known.
    is_reused INTEGER
);
