-- What device memory was made of at each moment.

CREATE TABLE z_cann_module (
    -- Words for heap.module_id: the modules of CANN, as its public headers and tools number them.
    --
    -- Number of the module.
    module_id INTEGER PRIMARY KEY,
    -- Its name.
    name TEXT NOT NULL
);

INSERT INTO z_cann_module VALUES
    (1, 'IDEDD'), (2, 'SCC'), (3, 'HCCL'), (4, 'FMK'), (5, 'CCU'), (6, 'DVPP'), (7, 'RUNTIME'), (8, 'CCE'),
    (9, 'HDC'), (10, 'DRV'), (11, 'NET'), (22, 'DEVMM'), (23, 'KERNEL'), (24, 'LIBMEDIA'), (25, 'CCECPU'),
    (27, 'ROS'), (28, 'HCCP'), (29, 'ROCE'), (30, 'TEFUSION'), (31, 'PROFILING'), (32, 'DP'), (33, 'APP'), (34, 'TS'),
    (35, 'TSDUMP'), (36, 'AICPU'), (37, 'LP'), (38, 'TDT'), (39, 'FE'), (40, 'MD'), (41, 'MB'), (42, 'ME'),
    (43, 'IMU'), (44, 'IMP'), (45, 'GE'), (47, 'CAMERA'), (48, 'ASCENDCL'), (49, 'TEEOS'), (50, 'ISP'), (51, 'SIS'),
    (52, 'HSM'), (53, 'DSS'), (54, 'PROCMGR'), (55, 'BBOX'), (56, 'AIVECTOR'), (57, 'TBE'), (58, 'FV'), (60, 'TUNE'),
    (61, 'HSS'), (62, 'FFTS'), (63, 'OP'), (64, 'UDF'), (65, 'HICAID'), (66, 'TSYNC'), (67, 'AUDIO'), (68, 'TPRT'),
    (69, 'ASCENDCKERNEL'), (70, 'ASYS'), (71, 'ATRACE'), (72, 'RTC'), (73, 'SYSMONITOR'), (74, 'AML'),
    (75, 'ADETECT'), (76, 'MBUFF'), (77, 'CUSTOM');

-- catalog: first 7, not counted
CREATE VIEW device_memory (
    -- What the memory of each device was made of at each moment, as its process sees it. All components but DEVICE USED
    -- add up to DEVICE USED, where the device was asked.
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
    -- Name of the pool. NULL: the component is no single heap.
    heap,
    -- 'pool', 'workspace', 'driver' or 'physical'.
    level,
    -- 'peak' and 'reserve' (of moment_heap), 'device peak', 'end', 'failure', or the text of the mark.
    moment,
    -- What kind of moment it is: 'peak', 'reserve', 'device peak', 'end', 'mark', 'failure'.
    moment_kind,
    -- Place in the order of events. NULL: before the first event.
    seq,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns,
    -- POOL: what a pool (heap) holds, its segments; WORKSPACE: the same of a workspace's allocator; APP: other memory that the program, or an unknown module, took; HCCL, GE, RUNTIME and other names: what that module of CANN took; PHYSICAL: physical memory that is not mapped; PAGE ROUNDING: the rest of whole
    -- pages, where they are known; RECORDED PROCESSES: what other recorded processes take of the same device; OTHER
    -- PROCESSES: what else is in use beside this process, by the runtime's word; UNEXPLAINED: what is left, of either
    -- sign; DEVICE USED: what the device says is in use and, where it was asked at another time, what came or went
    -- since.
    component,
    -- Its size. Unit: bytes. NULL: UNEXPLAINED and DEVICE USED where the device was not asked by then.
    bytes,
    -- What the runtime said that the module of this name holds; of APP that is all of the program's memory, pools
    -- included; of DEVICE USED it is the sum of all modules. Unit: bytes. NULL: it said nothing, or there is no such
    -- module.
    runtime_bytes,
    -- 1: not certain. A pool: it is what the pool stated; APP: such pools were taken out of it; UNEXPLAINED: without
    -- the runtime's word other processes are in it; the last four: memory came or went since the device or the runtime
    -- spoke.
    is_estimate,
    -- The heap whose peak it is, that held most, or that failed. NULL: none.
    moment_heap,
    -- Number of the moment.
    moment_id,
    -- POOL and WORKSPACE: bytes in blocks that the program holds. Unit: bytes. NULL: another component, or no segment of the pool was
    -- seen.
    used_bytes,
    -- Bytes in blocks that the program has given up, and that another stream still uses. Unit: bytes. NULL: likewise, or not known,
    -- for the pool tells a free when it is asked for: they are in free_bytes then.
    pending_bytes,
    -- Bytes outside blocks. Unit: bytes. NULL: as used_bytes.
    free_bytes,
    -- Part of free_bytes that came since the pool last served a request: for the one that it serves. Unit: bytes. NULL: as
    -- used_bytes.
    new_bytes,
    -- Number of the heap. NULL: the component is no single heap.
    heap_id
) AS
SELECT
    b.host, b.rank, b.pid, b.device,
    h.name,
    CASE WHEN h.level = 3 THEN 'workspace' ELSE 'pool' END,
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    CASE
        WHEN h.level = 3 THEN 'WORKSPACE'
        ELSE 'POOL'
    END,
    x.reserved_bytes,
    NULL,
    x.is_stated = 1 OR x.is_at_least = 1,
    b.moment_heap,
    b.moment_id,
    max(0, x.reserved_bytes - x.free_bytes - x.pending_bytes),
    CASE
        WHEN x.free_bytes IS NOT NULL AND NOT EXISTS (SELECT 1 FROM z_early_free AS e WHERE e.heap_id = h.heap_id)
            THEN x.pending_bytes
    END,
    x.free_bytes,
    CASE WHEN x.free_bytes IS NOT NULL THEN min(x.fresh_bytes, x.free_bytes) END,
    h.heap_id
FROM z_device_moment AS b
JOIN heap AS h ON h.device_id = b.device_id
JOIN z_heap_sample AS x
    ON x.heap_id = h.heap_id
    AND x.since_seq = (
        SELECT max(y.since_seq)
        FROM z_heap_sample AS y
        WHERE y.heap_id = h.heap_id AND y.since_seq <= b.at_seq
    )
WHERE h.level IN (2, 3)
UNION ALL
SELECT
    b.host, b.rank, b.pid, b.device,
    NULL,
    'driver',
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    'APP',
    (
        SELECT max(
            0,
            coalesce(
                sum(
                    CASE
                        WHEN h.level = 1 AND coalesce(h.module_id, 33) = 33 THEN max(0, x.live_bytes - x.segment_bytes)
                    END
                ),
                0
            )
            - coalesce(sum(CASE WHEN x.is_stated = 1 THEN x.reserved_bytes END), 0)
        )
        FROM heap AS h
        JOIN z_heap_sample AS x
            ON x.heap_id = h.heap_id
            AND x.since_seq = (
                SELECT max(y.since_seq)
                FROM z_heap_sample AS y
                WHERE y.heap_id = h.heap_id AND y.since_seq <= b.at_seq
            )
        WHERE h.device_id = b.device_id
    ),
    (
        SELECT z.used_bytes
        FROM z_module_sample AS z
        WHERE z.device_id = b.device_id AND z.module = 'APP' AND z.seq <= b.until_seq
        ORDER BY z.seq DESC
        LIMIT 1
    ),
    (
        SELECT coalesce(max(x.is_stated), 0)
        FROM heap AS h
        JOIN z_heap_sample AS x
            ON x.heap_id = h.heap_id
            AND x.since_seq = (
                SELECT max(y.since_seq)
                FROM z_heap_sample AS y
                WHERE y.heap_id = h.heap_id AND y.since_seq <= b.at_seq
            )
        WHERE h.device_id = b.device_id
    ),
    b.moment_heap,
    b.moment_id,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM z_device_moment AS b
UNION ALL
SELECT
    b.host, b.rank, b.pid, b.device,
    NULL,
    'driver',
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    n.module,
    coalesce((
        SELECT sum(max(0, x.live_bytes - x.segment_bytes))
        FROM heap AS h
        JOIN z_heap_sample AS x
            ON x.heap_id = h.heap_id
            AND x.since_seq = (
                SELECT max(y.since_seq)
                FROM z_heap_sample AS y
                WHERE y.heap_id = h.heap_id AND y.since_seq <= b.at_seq
            )
        LEFT JOIN z_cann_module AS c ON c.module_id = h.module_id
        WHERE h.device_id = b.device_id AND h.level = 1 AND h.module_id <> 33
            AND coalesce(c.name, 'module ' || h.module_id) = n.module
    ), 0),
    (
        SELECT z.used_bytes
        FROM z_module_sample AS z
        WHERE z.device_id = b.device_id AND z.module = n.module AND z.seq <= b.until_seq
        ORDER BY z.seq DESC
        LIMIT 1
    ),
    0,
    b.moment_heap,
    b.moment_id,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM z_device_moment AS b
JOIN z_device_module AS n ON n.device_id = b.device_id
WHERE n.module <> 'APP'
UNION ALL
SELECT
    b.host, b.rank, b.pid, b.device,
    NULL,
    'physical',
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    'PHYSICAL',
    (
        SELECT max(0, coalesce(sum(CASE WHEN h.level = 7 THEN x.live_bytes END), 0)
            - coalesce(sum(CASE WHEN h.level = 1 THEN x.mapped_bytes END), 0))
        FROM heap AS h
        JOIN z_heap_sample AS x
            ON x.heap_id = h.heap_id
            AND x.since_seq = (
                SELECT max(y.since_seq)
                FROM z_heap_sample AS y
                WHERE y.heap_id = h.heap_id AND y.since_seq <= b.at_seq
            )
        WHERE h.device_id = b.device_id
    ),
    NULL,
    0,
    b.moment_heap,
    b.moment_id,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM z_device_moment AS b
UNION ALL
SELECT
    b.host, b.rank, b.pid, b.device,
    NULL,
    'driver',
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    'PAGE ROUNDING',
    (
        SELECT coalesce(sum(x.page_bytes - x.live_bytes), 0)
        FROM heap AS h
        JOIN z_heap_sample AS x
            ON x.heap_id = h.heap_id
            AND x.since_seq = (
                SELECT max(y.since_seq)
                FROM z_heap_sample AS y
                WHERE y.heap_id = h.heap_id AND y.since_seq <= b.at_seq
            )
        WHERE h.device_id = b.device_id AND h.level IN (1, 7)
    ),
    NULL,
    0,
    b.moment_heap,
    b.moment_id,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM z_device_moment AS b
UNION ALL
SELECT
    b.host, b.rank, b.pid, b.device,
    NULL,
    'driver',
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    'RECORDED PROCESSES',
    b.other_recorded_bytes,
    NULL,
    0,
    b.moment_heap,
    b.moment_id,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM z_device_moment AS b
WHERE b.other_recorded_bytes IS NOT NULL
UNION ALL
SELECT
    b.host, b.rank, b.pid, b.device,
    NULL,
    'driver',
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    'OTHER PROCESSES',
    max(0, b.used_bytes - b.recorded_bytes - coalesce(b.other_recorded_bytes, 0)
        - (b.runtime_bytes - b.runtime_recorded_bytes)),
    NULL,
    b.is_stale = 1 OR b.runtime_recorded_bytes <> b.recorded_bytes,
    b.moment_heap,
    b.moment_id,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM z_device_moment AS b
WHERE b.used_bytes IS NOT NULL AND b.runtime_bytes IS NOT NULL
UNION ALL
SELECT
    b.host, b.rank, b.pid, b.device,
    NULL,
    'driver',
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    'UNEXPLAINED',
    b.used_bytes - b.recorded_bytes - coalesce(b.other_recorded_bytes, 0)
        - coalesce(max(0, b.used_bytes - b.recorded_bytes - coalesce(b.other_recorded_bytes, 0)
        - (b.runtime_bytes - b.runtime_recorded_bytes)), 0),
    NULL,
    b.runtime_bytes IS NULL OR b.is_stale = 1 OR b.runtime_recorded_bytes <> b.recorded_bytes,
    b.moment_heap,
    b.moment_id,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM z_device_moment AS b
UNION ALL
SELECT
    b.host, b.rank, b.pid, b.device,
    NULL,
    'driver',
    b.moment,
    b.moment_kind,
    b.seq,
    b.ns,
    'DEVICE USED',
    b.used_bytes,
    b.runtime_bytes,
    b.is_stale,
    b.moment_heap,
    b.moment_id,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM z_device_moment AS b;
