-- What was known of devices at each moment, and what they said themselves.

CREATE TABLE z_heap_sample (
    -- What a heap held from one event on, until its next row: not every change, but what moments need. What a heap held
    -- at a moment stands in its last row at or before the moment's place; without such a row it held nothing yet. That is
    -- exact at the end; at a mark or failure of the heap's process, or of another one on the same hardware; at peaks of
    -- the heap, of another heap on the same hardware (or, without a device, of the same process), and of the device.
    -- A peak on hardware with more than 512 heaps at once has the row of its own heap alone.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- Place in the order of events from which on it held this; -1: before the first event.
    since_seq INTEGER NOT NULL,
    -- Live. Unit: bytes.
    live_bytes INTEGER NOT NULL,
    -- Live allocations. Unit: allocations.
    live_count INTEGER NOT NULL,
    -- The same in whole pages of the device, where they are known; else live_bytes. Unit: bytes.
    page_bytes INTEGER NOT NULL,
    -- Part of live_bytes that was mapped: it is physical memory too. Unit: bytes.
    mapped_bytes INTEGER NOT NULL,
    -- Driver memory: part of live_bytes that is some pool's segments. Unit: bytes.
    segment_bytes INTEGER NOT NULL,
    -- Pools and workspaces: what they held of the driver's memory. Unit: bytes.
    reserved_bytes INTEGER NOT NULL,
    -- Part of live_bytes that the program has given up, and that another stream still uses. Unit: bytes.
    pending_bytes INTEGER NOT NULL,
    -- Part of reserved_bytes outside blocks. Unit: bytes. NULL: no segment of it had been seen by then, or it is no pool.
    free_bytes INTEGER,
    -- Part of free_bytes that came since the pool last served a request: for the one that it serves. Unit: bytes.
    fresh_bytes INTEGER NOT NULL,
    -- 1: reserved_bytes is what the pool stated, for no segment had been seen by then; 0: bytes of its segments.
    is_stated INTEGER NOT NULL,
    -- 1: reserved_bytes is live_bytes, which the pool held at least, for nothing else was known of it by then; 0: not.
    is_at_least INTEGER NOT NULL,
    PRIMARY KEY (heap_id, since_seq) ON CONFLICT REPLACE
) WITHOUT ROWID;

CREATE TABLE z_device_sample (
    -- The devices that a moment concerns, and what each said of itself. A process's device is concerned while the
    -- process runs, and at the end if the process still ran when the device was asked last. Shown by the view
    -- z_device_moment.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- The device, as one process sees it.
    device_id INTEGER NOT NULL REFERENCES device (device_id),
    -- The first device of the input that is the same hardware.
    hardware_id INTEGER NOT NULL REFERENCES device (device_id),
    -- What the process's recorded memory takes of it. Unit: bytes.
    recorded_bytes INTEGER NOT NULL,
    -- Free memory of the hardware, when it was asked. Unit: bytes. NULL: it was not asked by then.
    free_bytes INTEGER,
    -- All memory of the hardware. Unit: bytes. NULL: it was not asked by then.
    total_bytes INTEGER,
    -- Place in the order of events at which it was asked: the last time before the moment; or after it, if no memory of
    -- the hardware came or went in between. NULL: it was not asked by then.
    sample_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known, or it was not asked by then.
    sample_ns INTEGER,
    -- 1: memory of the hardware came or went between the two; 0: not.
    is_stale INTEGER NOT NULL,
    -- Last place in the order of events up to which all memory of the hardware stayed as it was at the moment.
    until_seq INTEGER NOT NULL,
    -- What recorded memory of all processes took of the hardware when it was asked. Unit: bytes. NULL: it was not asked
    -- by then.
    sample_recorded_bytes INTEGER,
    -- Place of the moment in the order of events; -1: before the first event.
    at_seq INTEGER NOT NULL,
    PRIMARY KEY (moment_id, device_id)
) WITHOUT ROWID;

CREATE TABLE z_hardware_sample (
    -- Sums of z_device_sample: what all recorded processes together took of a piece of hardware at a moment.
    --
    -- The moment.
    moment_id INTEGER NOT NULL REFERENCES moment (moment_id),
    -- As z_device_sample.hardware_id.
    hardware_id INTEGER NOT NULL REFERENCES device (device_id),
    -- Devices of processes that are this hardware. Unit: devices.
    device_count INTEGER NOT NULL,
    -- What they took. Unit: bytes.
    recorded_bytes INTEGER NOT NULL,
    PRIMARY KEY (moment_id, hardware_id) ON CONFLICT REPLACE
) WITHOUT ROWID;

CREATE TABLE z_module_sample (
    -- What the runtime said of the memory that a module of it holds (aclrtGetMemUsageInfo).
    --
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- Place in the order of events.
    seq INTEGER,
    -- The process that asked.
    process_id INTEGER REFERENCES process (process_id),
    -- The device.
    device_id INTEGER REFERENCES device (device_id),
    -- Name of the module, as the runtime calls it.
    module TEXT,
    -- What it holds. Unit: bytes.
    used_bytes INTEGER NOT NULL,
    -- Most that it ever held. Unit: bytes.
    peak_bytes INTEGER NOT NULL,
    -- What the process's recorded memory took of the device then, of all modules. Unit: bytes.
    recorded_bytes INTEGER NOT NULL
);

CREATE TABLE z_device_module (
    -- The modules of CANN that hold memory of a device, by what was recorded or by what the runtime said.
    --
    -- The device.
    device_id INTEGER NOT NULL REFERENCES device (device_id),
    -- Name of the module; 'APP' is the program itself.
    module TEXT NOT NULL
);

CREATE INDEX module_sample_device ON z_module_sample (device_id, module, seq, used_bytes);
CREATE INDEX module_sample_seq ON z_module_sample (device_id, seq, recorded_bytes);
CREATE INDEX device_module_device ON z_device_module (device_id, module);

CREATE VIEW z_device_moment (
    -- What each device said of itself, one row per moment and process that used it then.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device.
    device,
    -- Always NULL: of the whole device.
    heap,
    -- Always NULL: of the whole device.
    level,
    -- 'peak' and 'reserve' (of moment_heap), 'device peak', 'end', 'failure', or the text of the mark.
    moment,
    -- What kind of moment it is: 'peak', 'reserve', 'device peak', 'end', 'mark', 'failure'.
    moment_kind,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- Memory of the device in use, by anybody: what it said and, where is_stale, what came or went since by what was
    -- recorded; not below 0. Unit: bytes. NULL: it was not asked by then.
    used_bytes,
    -- All memory of the device. Unit: bytes. NULL: it was not asked by then.
    total_bytes,
    -- When the device was asked. Unit: nanoseconds since the recording began. NULL: not known, or it was not asked.
    sample_ns,
    -- 1: memory of the device came or went between that and the moment; 0: not.
    is_stale,
    -- What the process's recorded memory takes of it. Unit: bytes.
    recorded_bytes,
    -- What recorded memory of other processes takes of it. Unit: bytes. NULL: no other process used it then.
    other_recorded_bytes,
    -- What the runtime said that all its modules hold of it for this process. Unit: bytes. NULL: it said nothing by
    -- then.
    runtime_bytes,
    -- The heap whose peak it is, that held most, or that failed. NULL: none.
    moment_heap,
    -- Number of the moment.
    moment_id,
    -- Number of the device in this database.
    device_id,
    -- Last place in the order of events up to which the device's memory stayed as it was.
    until_seq,
    -- What the device said that is in use, at sample_ns. Unit: bytes. NULL: it was not asked by then.
    sample_used_bytes,
    -- What the process's recorded memory took of it when the runtime said runtime_bytes. Unit: bytes. NULL: it said
    -- nothing by then.
    runtime_recorded_bytes,
    -- The same as seq, but -1 before the first event.
    at_seq
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(device.physical_ordinal, device.ordinal),
    NULL,
    NULL,
    CASE WHEN m.kind = 3 THEN coalesce(m.name, '') ELSE k.name END,
    k.name,
    m.seq,
    m.ns,
    max(0, s.total_bytes - s.free_bytes
        + CASE
            WHEN s.is_stale = 1
                THEN w.recorded_bytes - s.sample_recorded_bytes
            ELSE 0
        END),
    s.total_bytes,
    s.sample_ns,
    s.is_stale,
    s.recorded_bytes,
    CASE WHEN w.device_count > 1 THEN w.recorded_bytes - s.recorded_bytes END,
    (
        SELECT sum((
            SELECT z.used_bytes
            FROM z_module_sample AS z
            WHERE z.device_id = n.device_id AND z.module = n.module AND z.seq <= s.until_seq
            ORDER BY z.seq DESC
            LIMIT 1
        ))
        FROM z_device_module AS n
        WHERE n.device_id = s.device_id
    ),
    h.name,
    s.moment_id,
    s.device_id,
    s.until_seq,
    s.total_bytes - s.free_bytes,
    (
        SELECT z.recorded_bytes
        FROM z_module_sample AS z
        WHERE z.device_id = s.device_id AND z.seq <= s.until_seq
        ORDER BY z.seq DESC
        LIMIT 1
    ),
    s.at_seq
FROM z_device_sample AS s
JOIN z_hardware_sample AS w ON w.moment_id = s.moment_id AND w.hardware_id = s.hardware_id
JOIN moment AS m ON m.moment_id = s.moment_id
JOIN z_moment_kind AS k ON k.kind = m.kind
JOIN device ON device.device_id = s.device_id
LEFT JOIN process ON process.process_id = device.process_id
LEFT JOIN heap AS h ON h.heap_id = m.heap_id;
