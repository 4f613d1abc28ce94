-- repeat_keep.sql: of each recording of which a database has something, the input that stays: the one that knows most.
-- After: repeat_plan.sql
UPDATE temp.repeat_input
SET kept_id = coalesce(
    (
        SELECT k.id
        FROM temp.repeat_input AS k
        WHERE k.recording_id = repeat_input.recording_id
        ORDER BY
            k.known DESC, k.ingested DESC, k.is_complete DESC, k.detail DESC, k.is_redacted, k.beside DESC, k.name, k.id
        LIMIT 1
    ),
    id
)
WHERE kept_id IS NULL
    OR recording_id IN (SELECT s.recording_id FROM temp.repeat_input AS s WHERE s.number = :number);
