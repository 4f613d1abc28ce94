$1_site (label, path, function, line) AS (
    SELECT
        frame.label,
        CASE
            -- begin site_path
        END,
        CASE
            WHEN frame.file IS NULL AND frame.module IS NULL THEN frame.label
            ELSE coalesce(frame.function, printf('+0x%x', frame.offset))
        END,
        frame.line
    FROM $2.frame
    WHERE frame.frame_id IN (
        SELECT min(f.frame_id)
        FROM $2.frame AS f
        JOIN $2.stack AS s ON s.site_frame_id = f.frame_id
        GROUP BY f.label
    )
),
$1_leak (rank, level, site, verdict, leak_bytes, leak_count) AS (
    SELECT
        rank,
        level,
        site,
        verdict,
        bytes,
        count
    FROM $2.finding
    WHERE kind = 'leak' AND severity = 'fault'
),
$1_row (rank, level, path, function, line, verdict, bytes, leak_count) AS (
    SELECT
        v.rank,
        v.level,
        coalesce($1_site.path, v.site),
        coalesce($1_site.function, ''),
        $1_site.line,
        v.verdict,
        v.leak_bytes,
        v.leak_count
    FROM $1_leak AS v
    LEFT JOIN $1_site ON $1_site.label = v.site
    WHERE (:rank IS NULL OR v.rank = :rank) AND (:level IS NULL OR v.level = :level)
),
