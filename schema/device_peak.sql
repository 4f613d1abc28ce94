-- The most that was live on a device, over its heaps and processes.

CREATE TABLE z_device_sum (
    -- Peak of a physical device over its driver heaps and all processes of an input. Shown by the view device_peak.
    --
    -- The device, as the first process that used it sees it.
    device_id INTEGER PRIMARY KEY REFERENCES device (device_id),
    -- Most that was ever live. Unit: bytes.
    peak_bytes INTEGER NOT NULL,
    -- Place in the order of events at which the peak was reached first. NULL: before the first event.
    peak_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    peak_ns INTEGER
);

-- catalog: first 6
CREATE VIEW device_peak (
    -- One row per physical device: its peak over all driver heaps of all processes of an input. Of several inputs each has
    -- rows of its own, also where they name the same device: events of two recordings have no common order.
    --
    -- Name of the machine. NULL: not known.
    host,
    -- Always NULL: a device may serve several ranks.
    rank,
    -- Always NULL: a device may serve several processes.
    pid,
    -- Number of the device.
    device,
    -- Always NULL: over all driver heaps.
    heap,
    -- Always 'driver'.
    level,
    -- Most that was ever live. Unit: bytes.
    peak_bytes,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    peak_ns,
    -- All memory of the device. Unit: bytes. NULL: not known.
    capacity_bytes,
    -- Place in the order of events at which the peak was reached first. NULL: before the first event.
    peak_seq,
    -- Ranks, or processes that have none, that ever held memory of it, in the same input. Unit: ranks or processes.
    holder_count
) AS
SELECT
    process.host,
    NULL,
    NULL,
    coalesce(device.physical_ordinal, device.ordinal),
    NULL,
    'driver',
    d.peak_bytes,
    d.peak_ns,
    device.capacity_bytes,
    d.peak_seq,
    o.holder_count
FROM z_device_sum AS d
JOIN device ON device.device_id = d.device_id
LEFT JOIN process ON process.process_id = device.process_id
LEFT JOIN (
    SELECT
        p.input_id,
        p.host,
        coalesce(e.physical_ordinal, e.ordinal) AS device,
        count(DISTINCT coalesce(p.rank, -p.process_id)) AS holder_count
    FROM z_heap_sum AS u
    JOIN heap AS h ON h.heap_id = u.heap_id
    JOIN device AS e ON e.device_id = h.device_id
    JOIN process AS p ON p.process_id = e.process_id
    WHERE u.peak_bytes > 0
    GROUP BY p.input_id, p.host, coalesce(e.physical_ordinal, e.ordinal)
) AS o ON o.input_id = process.input_id AND o.host IS process.host AND o.device IS coalesce(device.physical_ordinal, device.ordinal);
