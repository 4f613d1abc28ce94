-- moment_processes.sql: how many processes with memory there are, of a :rank where one is asked for, and how many of
-- them have both moments.
WITH
    asked (moment) AS (
        SELECT :from
        UNION ALL
        SELECT :to
    ),
    lacking (process_id) AS (
        SELECT process.process_id
        FROM process
        JOIN asked
        WHERE CASE
            WHEN asked.moment GLOB 'mark:*' THEN NOT EXISTS (
                SELECT 1
                FROM moment
                WHERE moment.process_id = process.process_id
                    AND moment.kind = 3
                    AND moment.name = substr(asked.moment, 6)
            )
            WHEN asked.moment GLOB 'step:*' THEN NOT EXISTS (
                SELECT 1
                FROM step
                WHERE step.process_id = process.process_id
                    AND step.begin_seq IS NOT NULL
                    AND step.number = CAST(substr(asked.moment, 6) AS INTEGER)
            )
        END
    )
SELECT
    count(*) AS all_count,
    coalesce(sum(process_id NOT IN (SELECT process_id FROM lacking)), 0) AS both_count
FROM process
WHERE (:rank IS NULL OR rank = :rank) AND process_id IN (SELECT process_id FROM heap);
