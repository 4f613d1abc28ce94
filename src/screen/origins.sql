-- origins.sql: where steps were taken from: of each source the anchor or reason that most processes have.
WITH
    l AS (
        SELECT
            source,
            kind,
            is_given,
            anchor,
            min(step_count) AS fewest_count,
            max(step_count) AS most_count,
            count(*) AS process_count
        FROM step_origin
        WHERE source <> 'marked'
        GROUP BY source, anchor
    )
SELECT
    source,
    kind,
    is_given,
    anchor,
    fewest_count,
    most_count,
    max(process_count) AS process_count
FROM l
GROUP BY source
ORDER BY source;
