-- repeat_add.sql: notes an input. What was not kept of the beginning counts as known: the sums of the rest are of all
-- of it.
-- After: repeat_plan.sql
INSERT OR IGNORE INTO temp.repeat_input (
    number,
    input_id,
    recording_id,
    known,
    ingested,
    is_complete,
    detail,
    is_redacted,
    beside,
    name,
    is_out
)
VALUES (
    :number,
    :input_id,
    :recording,
    :ingested_count + :unkept_count,
    :ingested_count,
    :is_complete,
    :detail_code,
    :redacted_count,
    :beside_count,
    :name,
    0
);
