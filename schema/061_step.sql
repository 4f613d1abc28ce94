-- Where steps come from.

CREATE TABLE step_anchor (
    -- How it is known where the steps of a process begin; a row for each process that allocated memory of a device, unless
    -- npumem-ingest --step-at none was asked for. Shown by the view step_origin.
    --
    -- The process.
    process_id INTEGER PRIMARY KEY REFERENCES process (process_id),
    -- 'marked': the program says so; 'site': where a place that recurs once in each iteration allocates; 'range': where a
    -- range of a name begins; 'optimizer': with the first allocation after an optimizer's step that follows a backward
    -- pass; 'none': it is not known.
    kind TEXT NOT NULL,
    -- 1: npumem-ingest --step-at named the place; 0: it was found.
    is_given INTEGER NOT NULL,
    -- The place: a stack that allocates; where none was found, the one that came nearest. NULL: a range, or no place.
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
    -- Allocations from one occurrence to the next, as they mostly are. Unit: allocations. NULL: not known.
    allocation_count INTEGER,
    -- Why this place, or why none: one line.
    reason TEXT NOT NULL
);
