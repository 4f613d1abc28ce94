-- What findings stand on.

-- catalog: in csv all
CREATE TABLE evidence (
    -- What each judgement of the run rests on, whatever it is: 'leak' (what grows with them), 'cache growth', 'fragmentation', 'pool hit
    -- rate', 'out of memory', 'misuse' and 'host growth', a row each. Table minimum says with how little it is not given.
    --
    -- What is judged: a kind of finding.
    judgement TEXT PRIMARY KEY,
    -- The gravest that is said of it, as finding.severity. NULL: nothing is said.
    severity TEXT,
    -- What was looked at: of leaks allocations, of pools those from them, of a hit rate those behind the warm-up, of host memory its
    -- samples, else all events. Unit: events.
    event_count INTEGER NOT NULL,
    -- Steps after the warm-up, the least of any process that allocated; 0: none are known. Unit: steps. NULL: it
    -- needs no steps.
    step_count INTEGER,
    -- Of the bytes that are live at the end, but for driver memory, those that were allocated in the history (0 to 1). Unit: ratio. NULL:
    -- nothing is, or it is not of them.
    born_ratio REAL,
    -- Sites that are held and not judged (view suspect_by_site), or not seen to end. Unit: sites. NULL: it is not of sites.
    open_count INTEGER
);
