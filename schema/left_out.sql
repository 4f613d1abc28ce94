-- Which rows were left out, since answers are made of sums.

CREATE TABLE z_left_out (
    -- Inputs of which rows of large tables were left out (npumem-ingest --detail live or none, --window). A number in another table,
    -- as anomaly.allocation_id, may then be that of a row that is not here. An input with all its rows is not in this table.
    --
    -- The input.
    input_id INTEGER PRIMARY KEY REFERENCES input (input_id),
    -- Number of its last allocation, here or not. NULL: it has none.
    last_allocation_id INTEGER REFERENCES z_allocation (allocation_id),
    -- Number of its last copy, here or not. NULL: it has none.
    last_copy_id INTEGER REFERENCES copy (copy_id),
    -- Number of its last operation, here or not. NULL: it has none.
    last_operation_id INTEGER REFERENCES operation (operation_id),
    -- Number of its last workspace, here or not. NULL: it has none.
    last_workspace_id INTEGER REFERENCES workspace (workspace_id),
    -- Number of its last call about streams, here or not. NULL: it has none.
    last_stream_call_id INTEGER REFERENCES z_stream_call (stream_call_id),
    -- Allocations of it that are not here. Unit: allocations.
    allocation_count INTEGER NOT NULL
);
