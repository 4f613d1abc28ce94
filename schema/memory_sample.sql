-- What the device and the system said of their memory.

CREATE TABLE z_memory_kind (
    -- Words for memory_sample.kind, and for allocation.policy of physical and mapped memory.
    --
    -- Code: aclrtMemAttr; from 100 on host memory of a process.
    kind INTEGER PRIMARY KEY,
    -- The kind of device memory, and of its pages; or which host memory: resident (all of it), anonymous (heaps and
    -- stacks), shared, stack (the main thread's), peak (the most that was resident so far; of a process that was killed:
    -- also by what it was before an exec); cgroup: what that which leaves the process least has, without files that the kernel lets go of
    -- first; machine: what is not available.
    name TEXT NOT NULL
);

INSERT INTO z_memory_kind VALUES
    (0, 'DDR'), (1, 'HBM'), (2, 'DDR huge pages'), (3, 'DDR normal pages'), (4, 'HBM huge pages'),
    (5, 'HBM normal pages'), (6, 'DDR huge pages for P2P'), (7, 'DDR normal pages for P2P'),
    (8, 'HBM huge pages for P2P'), (9, 'HBM normal pages for P2P'), (10, 'HBM 1 GiB pages'),
    (11, 'HBM 1 GiB pages for P2P'), (12, 'normal pages'), (13, 'huge pages'), (14, '1 GiB pages'),
    (15, 'normal pages for P2P'), (16, 'huge pages for P2P'), (17, '1 GiB pages for P2P'), (100, 'host resident'),
    (101, 'host anonymous'), (102, 'host shared'), (103, 'host stack'), (104, 'host peak'),
    (105, 'host cgroup'), (106, 'host machine');

CREATE TABLE memory_sample (
    -- What the runtime said of a device's memory when it was asked, and the host memory of each process: a row for each
    -- kind when it had moved by a mebibyte (npumem-record --sample-interval), and of host memory a last one at the end of
    -- each process that used a device: by its own word; of one that was killed the peak alone, where the kernel tells it
    -- (PROGRAM itself and what outlives its parent; none if it has recorded children, and of others that it waited for the
    -- largest counts in).
    --
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- The process that asked, or whose host memory it is.
    process_id INTEGER REFERENCES process (process_id),
    -- The device. NULL: host memory.
    device_id INTEGER REFERENCES device (device_id),
    -- aclrtMemAttr, from 100 on memory of the host, 105 and 106 what is around the process there; view usage_sample has the words.
    kind INTEGER NOT NULL,
    -- Memory in use: of a device, cgroup or machine by anybody, of the host by the process. Unit: bytes.
    used_bytes INTEGER NOT NULL,
    -- All memory of that kind; of the host: what the machine has; of a cgroup: its limit; 0: not known. Unit: bytes.
    total_bytes INTEGER NOT NULL,
    -- Place in the order of events.
    seq INTEGER
);

CREATE VIEW usage_sample (
    -- How much memory of the host each process used, and of each device anybody did, each time that it was asked; in order.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Number of the device. NULL: host memory.
    device,
    -- Always NULL: of the whole device or process.
    heap,
    -- Always NULL: of the whole device or process.
    level,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- Place in the order of events.
    seq,
    -- Which memory: HBM, ..., host resident, host anonymous, host shared, host stack or host peak; and what is around a
    -- process: host cgroup (of that which leaves it least, without files that the kernel lets go of first) and host machine.
    kind,
    -- In use: of a device, cgroup or machine by anybody, of the host by the process. Unit: bytes.
    used_bytes,
    -- All memory of that kind; of the host: what the machine has; of a cgroup: its limit. Unit: bytes.
    total_bytes,
    -- used_bytes over total_bytes. Unit: 0 to 1. NULL: the total is not known.
    used_ratio
) AS
SELECT
    process.host, process.rank, process.pid,
    coalesce(device.physical_ordinal, device.ordinal),
    NULL,
    NULL,
    m.ns,
    m.seq,
    coalesce(k.name, CAST(m.kind AS TEXT)),
    m.used_bytes,
    m.total_bytes,
    CASE WHEN m.total_bytes > 0 THEN CAST(m.used_bytes AS REAL) / m.total_bytes END
FROM memory_sample AS m
LEFT JOIN process ON process.process_id = m.process_id
LEFT JOIN device ON device.device_id = m.device_id
LEFT JOIN z_memory_kind AS k ON k.kind = m.kind
ORDER BY process.input_id, m.seq, m.kind;
