-- What was not recorded, and why.

CREATE TABLE z_note_kind (
    -- Words for note.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- missing function: one that the program asked for and its runtime lacks; other tool: a library in front of the same
    -- functions; unseen library: its calls could not be led through the recorder; unseen operator: it could not be
    -- wrapped; no pool events: the framework's pool tells none; Python unreadable: no Python frames;
    -- Python unchecked: they were read, but never compared with what the interpreter says; no ring: threads could not write
    -- to the recording, their events are among those dropped; unseen process: it could not join the recording.
    name TEXT NOT NULL
);

INSERT INTO z_note_kind VALUES
    (0, 'other'), (1, 'missing function'), (2, 'other tool'), (3, 'unseen library'), (4, 'unseen operator'),
    (5, 'no pool events'), (6, 'Python unreadable'), (7, 'Python unchecked'), (8, 'no ring'),
    (9, 'unseen process'), (10, 'unread part'), (11, 'other total');

CREATE TABLE z_note (
    -- Something that the recorder could not see, or saw in another way than usual. Shown by the view z_unseen.
    --
    -- Number of the note.
    note_id INTEGER PRIMARY KEY,
    -- The process that it is about. NULL: not known.
    process_id INTEGER REFERENCES process (process_id),
    -- The thread that met it. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Place in the order of events.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- A code of z_note_kind.
    kind INTEGER NOT NULL REFERENCES z_note_kind (kind),
    -- What it is about: a function, a library, an operator or a reason. NULL: not known.
    text TEXT,
    -- How many things it stands for; of unseen operators: how many more than the one in text. NULL: not said.
    count INTEGER,
    -- The input that it came from.
    input_id INTEGER NOT NULL REFERENCES input (input_id)
);

CREATE VIEW z_unseen (
    -- What the recorder could not see, or saw in another way than usual, as it noted it: a row for each such thing of an
    -- input. The rest is as it should be.
    --
    -- Name of the machine. NULL: several, or not known.
    host,
    -- Rank of the process. NULL: none, or several processes.
    rank,
    -- Process number. NULL: not known, or several processes.
    pid,
    -- Always NULL: a note is not of one device.
    device,
    -- Always NULL: a note is not of one heap.
    heap,
    -- Always NULL: a note is not of one level.
    level,
    -- A word of z_note_kind: missing function, other tool, unseen library, unseen operator, no pool events, ...
    kind,
    -- What it is about: a function, a library, an operator or a reason. NULL: not known.
    text,
    -- How often it was noted. Unit: notes.
    note_count,
    -- How many such things one process met at most: text is the first of them. Unit: things.
    unseen_count,
    -- In how many processes. Unit: processes.
    process_count,
    -- Place of the first such note in the order of events.
    first_seq
) AS
SELECT
    CASE WHEN min(p.host) = max(p.host) THEN min(p.host) END,
    CASE WHEN count(DISTINCT n.process_id) = 1 THEN min(p.rank) END,
    CASE WHEN count(DISTINCT n.process_id) = 1 THEN min(p.pid) END,
    NULL,
    NULL,
    NULL,
    k.name,
    n.text,
    count(*),
    CASE WHEN n.kind = 4 THEN 1 + max(coalesce(n.count, 0)) ELSE max(max(coalesce(n.count, 1)), 1) END,
    count(DISTINCT n.process_id),
    min(n.seq)
FROM z_note AS n
JOIN z_note_kind AS k ON k.kind = n.kind
LEFT JOIN process AS p ON p.process_id = n.process_id
GROUP BY n.input_id, n.kind, n.text
ORDER BY n.input_id, n.kind, n.text;
