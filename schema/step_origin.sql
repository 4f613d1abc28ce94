-- Where steps come from.

CREATE TABLE z_step_anchor (
    -- How it is known where the steps of a process begin; a row for each process that allocated memory of a device, unless
    -- npumem-ingest --step-at none was asked for. Shown by the view step_origin.
    --
    -- The process.
    process_id INTEGER PRIMARY KEY REFERENCES process (process_id),
    -- 'marked': the program says so; 'site': where a place that recurs once in each iteration allocates; 'range': where a
    -- range of a name begins; 'optimizer': with the first allocation after an optimizer's step that follows a backward
    -- pass; 'graph': where a graph is executed after those before were waited for; 'none': it is not known.
    kind TEXT NOT NULL,
    -- 1: npumem-ingest --step-at named the place; 0: it was found.
    is_given INTEGER NOT NULL,
    -- 1: a backward pass or an optimizer was seen to run in the process; 0: not, as in a server.
    is_trained INTEGER NOT NULL,
    -- The place: a stack that allocates, or executes a graph; where none was found, the one that came nearest. NULL: a range, or no place.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The range: its name, or the first of those that differ in a number at the end. NULL: no range.
    name TEXT,
    -- Steps that begin there, or that are marked. Unit: steps.
    step_count INTEGER NOT NULL,
    -- How often the place was met while looking for it. Unit: occurrences. NULL: no place.
    recur_count INTEGER,
    -- Share of the distances from one occurrence to the next that are alike, in number and in what is allocated in them.
    -- Unit: 0 to 1. NULL: not known.
    regular_ratio REAL,
    -- Allocations from one occurrence to the next, as they mostly are; of a range also operators. Unit: allocations. NULL: not known.
    allocation_count INTEGER,
    -- Why this place, or why none: one line.
    reason TEXT NOT NULL
);

CREATE VIEW step_origin (
    -- How it is known where the steps of each process begin, and at which place; or why it is not known.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Always NULL: steps are of a process.
    device,
    -- Always NULL: steps are of a process.
    heap,
    -- Always NULL: steps are of a process.
    level,
    -- 'marked': the program says where they begin; 'inferred': npumem-ingest found it, or was told by --step-at; 'none':
    -- not known.
    source,
    -- 'site', 'range', 'optimizer' or 'graph': what the anchor is. NULL: there is none.
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
    -- Allocations from one occurrence to the next, as they mostly are; of a range also operators. Unit: allocations. NULL: not known.
    allocation_count,
    -- Why this place, or why none.
    reason
) AS
SELECT
    process.host, process.rank, process.pid,
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
FROM z_step_anchor AS a
JOIN process ON process.process_id = a.process_id
LEFT JOIN stack AS s ON s.stack_id = a.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
ORDER BY a.process_id;
