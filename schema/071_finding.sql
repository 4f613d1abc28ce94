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

-- catalog: in csv all
CREATE TABLE minimum (
    -- What there must be at least for a judgement: with less nothing is said, or it is not judged. How much of a measure of view health
    -- is worth a warning is another matter: npumem-ingest --threshold.
    --
    -- What is judged: a kind of finding, or a part of one.
    judgement TEXT PRIMARY KEY,
    -- So much, or more. Unit: as the column unit says.
    least INTEGER NOT NULL,
    -- 'steps', 'minutes', 'seconds', 'events', 'bytes' or 'objects'.
    unit TEXT NOT NULL,
    -- With less: 'not judged', or 'silent' (nothing is said).
    below TEXT NOT NULL,
    -- What it is of.
    explanation TEXT NOT NULL
);
INSERT INTO minimum VALUES
    ('leak', 3, 'steps', 'not judged', 'steps of a process of which something is live that was born in the history'),
    ('warm-up', 20, 'steps', 'not judged',
        'steps of a history that begins in the middle, or no step is its warm-up: what is born in it and kept is not judged'),
    ('rising', 30, 'minutes', 'not judged', 'time of a process without steps'),
    ('fragmentation', 1, 'events', 'silent', 'allocations of a pool whose reserved bytes are known'),
    ('pool hit rate', 1, 'events', 'not judged', 'allocations of a pool after the warm-up'),
    ('out of memory', 1, 'events', 'silent', 'events of a run that has memory'),
    ('misuse', 1, 'events', 'silent', 'events of a run that has memory'),
    ('host memory', 10, 'seconds', 'not judged', 'time from the first look at the host memory of a process that allocated to the last, or five looks'),
    ('object leak', 257, 'objects', 'silent', 'objects of a place that were made and are not destroyed'),
    ('pending memory', 67108864, 'bytes', 'silent', 'freed at once that another stream still uses, and a tenth of what lives'),
    ('idle streams', 67108864, 'bytes', 'silent', 'free in streams that ask for nothing, and a tenth of what is reserved'),
    ('cache growth', 67108864, 'bytes', 'silent', 'rise of what is reserved over the last two fifths, and a tenth of it'),
    ('host growth', 104857600, 'bytes', 'silent', 'rise of anonymous memory over the last two fifths of less than an hour, and a tenth of it'),
    ('shared device', 67108864, 'bytes', 'silent', 'what other ranks hold of a device, unless more is held than it has'),
    ('uneven rank', 268435456, 'bytes', 'silent', 'more than the median of its group, and a twentieth of it'),
    ('uneven rank of a small run', 16777216, 'bytes', 'silent', 'the same, where it is a quarter of it');

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

-- catalog: in csv all
CREATE TABLE finding_group (
    -- Findings that say the same, over all processes: of leaks those of one site, of misuse those of one kind, of a measure those
    -- with one verdict, of memory that ran out those with one cause. Only faults and warnings.
    --
    -- Number of the group, in the order of its kind.
    finding_group_id INTEGER PRIMARY KEY,
    -- As in table finding.
    severity TEXT NOT NULL,
    -- As in table finding.
    kind TEXT NOT NULL,
    -- The same as a sentence, in English. NULL: there is none for the kind.
    text TEXT,
    -- Where: of leaks the site that they have in common; of misuse that of the first. NULL: not of one site.
    site TEXT,
    -- What is called so, as in table finding.
    verdict TEXT,
    -- Ranks that have it, and processes without a rank. Unit: ranks or processes.
    holder_count INTEGER NOT NULL,
    -- Of so many: of all ranks, or where there are none of all processes that used memory; and whoever else has a finding. Unit: ranks or
    -- processes.
    all_count INTEGER NOT NULL,
    -- Of all together. Unit: bytes. NULL: not in bytes.
    total_bytes INTEGER,
    -- Blocks, calls, failures or requests of all together. Unit: as said. NULL: not counted.
    total_count INTEGER,
    -- What each process has of it: leaks in bytes, misuse and failures in calls, measures by their value (of several heaps the
    -- worst): the least of them.
    least_amount REAL,
    -- The median: of an even number the lower one.
    median_amount REAL,
    -- The most.
    most_amount REAL,
    -- The process that has it worst: its rank. NULL: none.
    worst_rank INTEGER,
    -- Its process number. NULL: not known.
    worst_pid INTEGER,
    -- Its machine. NULL: not known.
    worst_host TEXT,
    -- What is said of it, in any language, as in table finding. NULL: nothing. JSON.
    sentence TEXT
);
