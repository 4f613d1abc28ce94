-- Objects of the runtime that nobody destroys.

CREATE TABLE z_object_leak (
    -- Events, notifies or contexts (aclrtCreateEvent, ...) that a process made at one stack, and of which none was ever
    -- destroyed. Shown by the view object_leak.
    --
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- The device. NULL: not known.
    device_id INTEGER REFERENCES device (device_id),
    -- The call that made them, a code of z_stream_call_kind.
    kind INTEGER NOT NULL REFERENCES z_stream_call_kind (kind),
    -- Where they were made. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- How many. Unit: objects.
    created_count INTEGER NOT NULL,
    -- Of these in the last two fifths of the events from the first of them to the end of the process, or of the recording. Unit:
    -- objects.
    late_count INTEGER NOT NULL,
    -- Place of the first in the order of events.
    first_seq INTEGER,
    -- Place of the last.
    last_seq INTEGER
);

CREATE VIEW object_leak (
    -- Objects of the runtime that a line makes and that nobody destroys, most first: they take memory of the host, and of some a
    -- device has only so many. Where events were lost, nothing is here.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: not known.
    device,
    -- Always NULL: they are of no heap.
    heap,
    -- Always NULL: they are of no heap.
    level,
    -- What they are: 'event', 'notify' or 'context'.
    object,
    -- Where they are made: the label of the site. NULL: no stack was recorded.
    site,
    -- Made there and not destroyed, and none that was made there was. Unit: objects.
    created_count,
    -- Of these in the last two fifths of the time since the first, in events of the recording. Unit: objects.
    late_count,
    -- 'leak': more than 256, and at least a fifth of them in those two fifths, so that they become ever more; 'kept': not.
    verdict,
    -- Place of the first in the order of events.
    first_seq,
    -- Place of the last.
    last_seq,
    -- One stack that ends there. NULL: no stack was recorded.
    stack_id
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(d.physical_ordinal, d.ordinal),
    NULL,
    NULL,
    replace(k.name, 'create ', ''),
    f.label,
    sum(o.created_count),
    sum(o.late_count),
    CASE WHEN sum(o.created_count) >= (SELECT least FROM minimum WHERE judgement = 'object leak') AND sum(o.late_count) * 5 >= sum(o.created_count) THEN 'leak' ELSE 'kept' END,
    min(o.first_seq),
    max(o.last_seq),
    max(o.stack_id)
FROM z_object_leak AS o
JOIN z_stream_call_kind AS k ON k.kind = o.kind
JOIN process ON process.process_id = o.process_id
LEFT JOIN device AS d ON d.device_id = o.device_id
LEFT JOIN stack AS s ON s.stack_id = o.stack_id
LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id
GROUP BY o.process_id, o.device_id, o.kind, f.label
ORDER BY sum(o.created_count) DESC, o.process_id, o.device_id, o.kind, f.label;
