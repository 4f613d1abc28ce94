-- What there is to say of a run, a row a finding.

-- catalog: in csv, in csv all
CREATE TABLE finding (
    -- What there is to say of a run: what is wrong, what is not good, what was looked at and is good, and what cannot be judged, a
    -- row each, the gravest of a kind first. Made once, when a database is made or merged; the screen, the page, npumem check and
    -- the bundle say what stands here.
    --
    -- Number of the finding.
    finding_id INTEGER PRIMARY KEY,
    -- 'fault', 'warning', 'minor' (not good, but too little to matter), 'good' or 'not judged'.
    severity TEXT NOT NULL,
    -- 'out of memory', 'leak', 'suspect' (of a process without steps: it may be a leak), 'misuse', a measure of view health ('fragmentation', 'pool hit rate', 'allocation cost', 'zero
    -- copy'), 'pending memory', 'idle streams', 'object leak', 'host growth', 'cache growth', 'shared device' or 'uneven rank'.
    kind TEXT NOT NULL,
    -- The same as a sentence, in English; of what is not judged with the reason, of what is good with what that rests on.
    text TEXT,
    -- Why it is not judged. NULL: it is judged.
    reason TEXT,
    -- Name of the machine. NULL: not known, or the finding is of the whole run.
    host TEXT,
    -- Rank of the process. NULL: none, or the finding is of the whole run.
    rank INTEGER,
    -- Process number. NULL: not known, or the finding is of the whole run.
    pid INTEGER,
    -- Number of the device. NULL: host memory, or not of one device.
    device INTEGER,
    -- Name of the heap. NULL: not of one heap.
    heap TEXT,
    -- Level of the heap. NULL: not of one heap.
    level TEXT,
    -- Where: the label of the site. NULL: it has none.
    site TEXT,
    -- Of a leak whose site is a helper that allocates for others too: the function of the nearest frame further out through which what
    -- leaks goes, and nothing that was freed. NULL: there is none, or it is of no one site.
    through TEXT,
    -- What is called so: of a leak its verdict, of memory that ran out why (view out_of_memory), of misuse what was done, of a
    -- measure its verdict, of an uneven rank 'unlike its stage' (options, variables or communicators tell the stages of a pipeline) or
    -- 'unlike those alike' (the other ranks that hold the same but for some sites). NULL: nothing is.
    verdict TEXT,
    -- 'exact'; 'bound' (at least or at most); 'estimate' (of an input whose basis for it is no more: table input).
    basis TEXT NOT NULL,
    -- Of a measure its value, as health.value; of a leak what it grows by; of an uneven rank what it holds over the median of its
    -- group. NULL: none.
    value REAL,
    -- Unit of the value: 'ratio', 'ns', 'bytes a step' or 'bytes an hour'. NULL: there is none.
    unit TEXT,
    -- What it is about: leaked, asked for, unused, more than others. Unit: bytes. NULL: not in bytes.
    bytes INTEGER,
    -- Blocks, calls or failures, the requests that a hit rate is of, or the other ranks of a group. Unit: as said. NULL: not counted.
    count INTEGER,
    -- Fragmentation: the moment that the value is of, as health.moment. NULL: of no moment.
    moment TEXT,
    -- Place in the order of events: of the request that failed, of the first misuse. NULL: of no event.
    seq INTEGER,
    -- The stack of that event. NULL: none, or of no event.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- What is said, in any language: codes of docs/sentences.txt and values (src/say/said.h). JSON.
    sentence TEXT NOT NULL,
    -- What proves it, in lines of the same form. NULL: nothing more. JSON.
    evidence TEXT,
    -- What would help, in the same form. NULL: nothing is known to. JSON.
    remedy TEXT,
    -- The command that shows more of it, of a database run.db that came of run.zst. NULL: none.
    next_command TEXT,
    -- The view that has it in full.
    source_view TEXT NOT NULL,
    -- Which row of it: out_of_memory_id, or anomaly_id of the first misuse. NULL: rows there have no number.
    source_id INTEGER
);
