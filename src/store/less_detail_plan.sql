-- less_detail_plan.sql: which inputs have more than is to be kept, which allocations and operations of theirs stay,
-- and what is the last of each table.
CREATE TEMP TABLE IF NOT EXISTS less_input (
    input_id INTEGER PRIMARY KEY
);
CREATE TEMP TABLE IF NOT EXISTS less_kept (
    allocation_id INTEGER PRIMARY KEY
);
CREATE TEMP TABLE IF NOT EXISTS less_operation (
    operation_id INTEGER PRIMARY KEY
);
CREATE TEMP TABLE IF NOT EXISTS less_last (
    owner,
    input_id,
    last_id,
    left_out_count,
    PRIMARY KEY (owner, input_id)
);
CREATE TEMP TABLE IF NOT EXISTS less_condition (
    owner PRIMARY KEY,
    condition
);
DELETE FROM less_input;
DELETE FROM less_kept;
DELETE FROM less_operation;
DELETE FROM less_last;
DELETE FROM less_condition;
