-- Steps: where they come from, what each took, and what the next ones will.

CREATE VIEW step_origin (
    -- How it is known where the steps of each process begin, and at which place; or why it is not known.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- Always NULL: steps are of a process.
    device,
    -- Always NULL: steps are of a process.
    heap,
    -- Always NULL: steps are of a process.
    level,
    -- 'marked': the program says where they begin; 'inferred': npumem-ingest found it, or was told by --step-at; 'none':
    -- not known.
    source,
    -- 'site', 'range' or 'optimizer': what the anchor is; see step_anchor.kind. NULL: there is none.
    kind,
    -- The place: 'file:line function' of a site, the name of a range, the site of the optimizer's step; where none was
    -- found, what came nearest. NULL: nothing came near, or steps are marked.
    anchor,
    -- 1: --step-at named it; 0: it was found.
    is_given,
    -- Steps. Unit: steps.
    step_count,
    -- How often the place was met while looking for it. Unit: occurrences. NULL: no place.
    recur_count,
    -- Share of the distances from one occurrence to the next that are alike. Unit: 0 to 1. NULL: not known.
    regular_ratio,
    -- Allocations from one occurrence to the next, as they mostly are. Unit: allocations. NULL: not known.
    allocation_count,
    -- Why this place, or why none.
    reason
) AS
SELECT
    process.host,
    process.rank,
    process.pid,
    NULL,
    NULL,
    NULL,
    CASE a.kind WHEN 'marked' THEN 'marked' WHEN 'none' THEN 'none' ELSE 'inferred' END,
    CASE WHEN a.kind NOT IN ('marked', 'none') THEN a.kind END,
    coalesce(a.name, f.label),
    a.is_given,
    a.step_count,
    a.recur_count,
    a.regular_ratio,
    a.allocation_count,
    a.reason
FROM step_anchor AS a
JOIN process ON process.process_id = a.process_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
ORDER BY a.process_id;
