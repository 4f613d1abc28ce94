-- Objects of the runtime that processes make for operators and models.

CREATE TABLE z_object_kind (
    -- Words for z_object_count.kind and z_object_site.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- The type, as CANN calls it.
    name TEXT NOT NULL,
    -- The function that destroys one.
    destroyed_by TEXT NOT NULL
);
INSERT INTO z_object_kind VALUES
    (1, 'aclTensor', 'aclDestroyTensor'), (2, 'aclTensorList', 'aclDestroyTensorList'), (3, 'aclScalar', 'aclDestroyScalar'),
    (4, 'aclScalarList', 'aclDestroyScalarList'), (5, 'aclIntArray', 'aclDestroyIntArray'),
    (6, 'aclFloatArray', 'aclDestroyFloatArray'), (7, 'aclBoolArray', 'aclDestroyBoolArray'),
    (8, 'aclDataBuffer', 'aclDestroyDataBuffer'), (9, 'aclmdlDataset', 'aclmdlDestroyDataset'),
    (10, 'aclmdlDesc', 'aclmdlDestroyDesc'), (11, 'aclTensorDesc', 'aclDestroyTensorDesc');

CREATE TABLE z_object_count (
    -- Objects that a process made of a kind, as it counted them itself. Shown by the view object_count.
    --
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- Code of z_object_kind.
    kind INTEGER NOT NULL,
    -- Made. Unit: objects.
    made_count INTEGER NOT NULL,
    -- Of these destroyed, or given to a list. Unit: objects.
    gone_count INTEGER NOT NULL,
    -- The most that lived at once, of the looks that were taken. Unit: objects.
    most_count INTEGER NOT NULL,
    -- The least that lived in the last tenth of the events since the first look, less the least in the last four tenths. Unit: objects.
    late_count INTEGER NOT NULL,
    -- 1: the least in the last tenth is more than in the last two, and that more than in the last four.
    is_rising INTEGER NOT NULL,
    -- Place of the first look in the order of events.
    first_seq INTEGER,
    -- Place of the last.
    last_seq INTEGER
);

CREATE TABLE z_object_site (
    -- Where they were made, of those that were told with their stack: about one of 64, once 1,000 of the kind lived. Each stands
    -- for 64.
    --
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- Code of z_object_kind.
    kind INTEGER NOT NULL,
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Made. Unit: objects.
    made_count INTEGER NOT NULL,
    -- Of these destroyed, or given to a list. Unit: objects.
    gone_count INTEGER NOT NULL
);

CREATE VIEW object_count (
    -- Objects of the runtime that a process made for operators and models (aclTensor, aclDataBuffer, ...), the most that were left
    -- first: each takes memory of the host. They are counted, and where those were made that are left is an estimate.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Always NULL: they are of no device.
    device,
    -- Always NULL: they are of no heap.
    heap,
    -- Always NULL: they are of no heap.
    level,
    -- What they are: the type, as CANN calls it.
    object,
    -- Made. Unit: objects.
    made_count,
    -- Of these destroyed, or given to a list, which destroys what is in it. Unit: objects.
    gone_count,
    -- Left at the end of the process, or of the recording. Unit: objects.
    left_count,
    -- The most that lived at once, to a sixteenth or 64. Unit: objects.
    most_count,
    -- The least that lived in the last tenth of the events, less the least in the last four tenths. Unit: objects.
    late_count,
    -- 'leak': at least 1,000 are left, and still more in the end: the least that lived rose in the last four tenths, and by a fifth of
    -- what is left; 'kept': not.
    verdict,
    -- Where most of those were made that are left: the label of the site. NULL: not known; fewer than 1,000 lived at once.
    site,
    -- Which share of those that are left were made there. Unit: 0 to 1. NULL: not known.
    site_ratio,
    -- The function that destroys one.
    destroyed_by,
    -- Place of the first look at them in the order of events.
    first_seq,
    -- One stack that ends there. NULL: not known.
    stack_id
) AS
WITH
    place AS (
        SELECT
            o.process_id AS process_id,
            o.kind AS kind,
            f.label AS label,
            sum(o.made_count - o.gone_count) AS left_count,
            max(o.stack_id) AS stack_id
        FROM z_object_site AS o
        LEFT JOIN stack AS s ON s.stack_id = o.stack_id
        LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
        GROUP BY o.process_id, o.kind, f.label
    ),
    worst AS (
        SELECT
            p.*,
            sum(p.left_count) OVER (PARTITION BY p.process_id, p.kind) AS all_count,
            row_number() OVER (PARTITION BY p.process_id, p.kind ORDER BY p.left_count DESC, p.label) AS place
        FROM place AS p
        WHERE p.left_count > 0
    )
SELECT
    process.host, process.rank, process.pid,
    NULL,
    NULL,
    NULL,
    k.name,
    c.made_count,
    c.gone_count,
    max(c.made_count - c.gone_count, 0),
    c.most_count,
    c.late_count,
    CASE
        WHEN c.is_rising AND c.made_count - c.gone_count >= 1000 AND c.late_count * 5 >= c.made_count - c.gone_count THEN 'leak'
        ELSE 'kept'
    END,
    w.label,
    CAST(w.left_count AS REAL) / w.all_count,
    k.destroyed_by,
    c.first_seq,
    w.stack_id
FROM z_object_count AS c
JOIN process ON process.process_id = c.process_id
JOIN z_object_kind AS k ON k.kind = c.kind
LEFT JOIN worst AS w ON w.process_id = c.process_id AND w.kind = c.kind AND w.place = 1
ORDER BY c.made_count - c.gone_count DESC, c.process_id, c.kind;
