-- How much is needed before something can be said.

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
