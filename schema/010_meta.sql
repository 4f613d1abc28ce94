-- What the database itself is, where its rows came from, and the words for the codes that large tables hold.

CREATE TABLE meta (
    -- Facts about the database itself, one a row.
    --
    -- Name of the fact: schema_version, tool, tool_version; site_rules_version: of what a site is, beside table plumbing (not
    -- there: 1).
    key TEXT PRIMARY KEY,
    -- Its value, as text.
    value TEXT NOT NULL
);

CREATE TABLE input (
    -- One file that was loaded, and how much of what happened it still held. Read this before any other table:
    -- events_seen = events_ingested + events_dropped + events_damaged + events_unrecovered + events_unkept.
    --
    -- Number of the input, from 1.
    input_id INTEGER PRIMARY KEY,
    -- The file as it was named; '-' is standard input.
    path TEXT NOT NULL,
    -- What was recognised: 'trace', 'torch snapshot', ...
    kind TEXT NOT NULL,
    -- Wall clock of time 0. Unit: nanoseconds since 1970. NULL: not known.
    start_realtime_ns INTEGER,
    -- What the order of events (seq) follows: 'clock' or 'file'.
    order_kind TEXT NOT NULL,
    -- 1: nothing was lost and the recording was ended properly; 0: some of it is missing, or contradicts the rest.
    is_complete INTEGER NOT NULL,
    -- Events that happened, as far as the input knows. Unit: events.
    events_seen INTEGER NOT NULL,
    -- Events that were loaded. Unit: events.
    events_ingested INTEGER NOT NULL,
    -- Events lost in the program, because a ring was full. Unit: events.
    events_dropped INTEGER NOT NULL,
    -- Events lost in the file, in parts that could not be read. Unit: events.
    events_damaged INTEGER NOT NULL,
    -- Events known to have been in a ring that could not be read; at least so many where is_loss_exact is 0. Unit: events.
    events_unrecovered INTEGER NOT NULL,
    -- Events that were loaded but whose place in the order is not certain. Unit: events.
    events_late INTEGER NOT NULL,
    -- Bytes at the end of the file that belong to no whole block. Unit: bytes.
    bytes_cut INTEGER NOT NULL,
    -- Events that were loaded but whose stack was lost with a damaged part. Unit: events.
    events_without_stack INTEGER NOT NULL,
    -- What had become of the recording when it was loaded. 'ended': its last block is here, or the file is whole by itself;
    -- 'recovered': the recorder was killed, and what it had left in its rings is here. The others have no end, and are never
    -- complete: 'running': it is still being recorded, figures are those so far; 'killed': the recorder was killed, and a
    -- recorded process may have gone on; 'cut': nothing is left of the rest; 'unseen': recorded on another machine or through
    -- a pipe, so that nobody could see whether it went on; 'unreadable': its rings were another user's, so likewise.
    state TEXT NOT NULL,
    -- References to a process, thread, heap or stack that the input never defined; such cells are NULL. Unit:
    -- references.
    unknown_reference_count INTEGER NOT NULL,
    -- First place in the order of events. NULL: no events.
    first_seq INTEGER,
    -- Last place in the order of events. NULL: no events.
    last_seq INTEGER,
    -- Events of before detail_begin_seq, in parts of the recording that were not kept (npumem-record --keep): no rows of
    -- them are here, but sums, peaks and what was still live are those of the whole recording. Unit: events.
    events_unkept INTEGER NOT NULL,
    -- Place in the order of events from which on there are rows of each event. NULL: of the whole recording.
    detail_begin_seq INTEGER,
    -- When that was. Unit: nanoseconds since the recording began. NULL: of the whole recording.
    detail_begin_ns INTEGER,
    -- What was live before the first event: 'none' (everything is recorded since the processes began), 'known' (it is here,
    -- as baseline: the recording began paused, or the source lists it) or 'unknown' (a process ran before its recording
    -- began: what it held then is in no sum).
    baseline TEXT NOT NULL,
    -- Frees of memory that may have been allocated unseen, before the recording began: no anomalies. Unit: frees.
    unseen_origin_count INTEGER NOT NULL,
    -- Processes that are in the input. 0 in a recording: no process loaded the recorder, so nothing is known of what ran.
    -- Unit: processes.
    processes_seen INTEGER NOT NULL,
    -- Of these, how many were seen to become a program (exec) that did not load the recorder: it is static or setuid, has
    -- another libc, or lost LD_PRELOAD. What it did is not known. Unit: processes.
    processes_left INTEGER NOT NULL,
    -- Which rows it has in the large tables (npumem-ingest --detail). 'all': every allocation, copy, operation, workspace
    -- and call about streams; 'live': allocations that were live at the peak of their heap or its device, at a mark or
    -- failed allocation of their process, or at the end, and the operations that these name; 'none': no allocations.
    -- Answers are the same.
    detail TEXT NOT NULL,
    -- 1: the counts of lost events are exact; 0: more may be lost, in rings that are gone or cannot be read.
    is_loss_exact INTEGER NOT NULL,
    -- Processes that were to be recorded and could not join the recording, or used a device unrecorded: what they did is in
    -- no count, so the input is not complete. Unit: processes.
    processes_unjoined INTEGER NOT NULL,
    -- Blocks of pools, those of before the first event with them, that lie in none of the segments that the input lists: it
    -- contradicts itself. Nothing that it says of the segments of such a device is here, so that what its pool reserved, how
    -- fragmented that was and what it missed are not known. Unit: blocks.
    blocks_outside_count INTEGER NOT NULL,
    -- Which recording it is: 32 hexadecimal digits, in all files of one recording and in every copy the same, and in no other. Of
    -- a trace its random Trace_Id; of a snapshot the XXH64 of the file and its size in bytes. No two inputs of a database have
    -- the same: npumem-ingest leaves out what is there again, and keeps of two the one with more events. NULL: not known.
    recording_id TEXT,
    -- How far its kind goes towards an answer. 'exact'; 'estimate': it holds some of what is needed, so that no finding is firm;
    -- 'curve': amounts from time to time alone; 'none': it says nothing of it. A recording and a memory snapshot: all exact. Here:
    -- what leaks.
    leak_basis TEXT NOT NULL,
    -- What the peak is made of.
    peak_basis TEXT NOT NULL,
    -- How fragmented the pools are.
    fragmentation_basis TEXT NOT NULL,
    -- What the pools served by themselves.
    hit_basis TEXT NOT NULL,
    -- What the device held, of other programs too.
    device_basis TEXT NOT NULL,
    -- Why an allocation failed.
    failure_basis TEXT NOT NULL,
    -- Which calls are wrong: only what records calls, or lists all blocks, tells that.
    misuse_basis TEXT NOT NULL
);

CREATE TABLE heap_level (
    -- Words for heap.level.
    --
    -- Code.
    level INTEGER PRIMARY KEY,
    -- driver: handed out by the runtime; pool: cut from driver memory by a framework or by CANN; workspace; pinned: host
    -- memory for transfer; registered: host memory that the device may reach; host; physical: device memory by its
    -- handle, mapped (then driver memory counts it too) or not; imported: memory of another process.
    name TEXT NOT NULL
);
INSERT INTO heap_level VALUES
    (1, 'driver'), (2, 'pool'), (3, 'workspace'), (4, 'pinned'), (5, 'registered'), (6, 'host'),
    (7, 'physical'), (8, 'imported');

CREATE TABLE end_kind (
    -- Words for allocation.end_kind: how an allocation ended.
    --
    -- Code.
    end_kind INTEGER PRIMARY KEY,
    -- none: never, in this trace; freed; unmapped; reset: the device was reset; replaced: something else was allocated
    -- at its address, so its free was not seen.
    name TEXT NOT NULL
);
INSERT INTO end_kind VALUES (0, 'none'), (1, 'freed'), (2, 'unmapped'), (3, 'reset'), (4, 'replaced');

CREATE TABLE z_category (
    -- Words for allocation.category_id: what memory is for, and whether that is known.
    --
    -- Code.
    category_id INTEGER PRIMARY KEY,
    -- weight; gradient; optimizer state; activation: made in a forward for the backward pass after it; KV cache; workspace;
    -- communication; graph: made in the capture of one; temporary: made and gone in one forward, one backward pass or one
    -- step of an optimizer; input; segment: driver memory of a pool, whose own rows say what its blocks are; other: told, in
    -- a word of the program's own.
    name TEXT NOT NULL,
    -- 1: inferred, from its birth and its end against forward, backward and optimizer, and from names in its stack; 0: the
    -- program told it, or it is known by where the memory comes from.
    is_estimate INTEGER NOT NULL
);
INSERT INTO z_category VALUES
    (2, 'weight', 0), (3, 'weight', 1), (4, 'gradient', 0), (5, 'gradient', 1), (6, 'optimizer state', 0),
    (7, 'optimizer state', 1), (8, 'activation', 0), (9, 'activation', 1), (10, 'KV cache', 0), (11, 'KV cache', 1),
    (12, 'workspace', 0), (13, 'workspace', 1), (14, 'communication', 0), (15, 'communication', 1), (16, 'graph', 0),
    (17, 'graph', 1), (18, 'temporary', 0), (19, 'temporary', 1), (20, 'input', 0), (21, 'input', 1),
    (22, 'segment', 0), (23, 'segment', 1), (24, 'other', 0), (25, 'other', 1);

CREATE TABLE copy_kind (
    -- Words for copy.kind.
    --
    -- Code: aclrtMemcpyKind, and 100 for a memset.
    kind INTEGER PRIMARY KEY,
    -- The direction.
    name TEXT NOT NULL
);
INSERT INTO copy_kind VALUES
    (0, 'host to host'), (1, 'host to device'), (2, 'device to host'), (3, 'device to device'), (4, 'default'),
    (5, 'host to buffer to device'), (6, 'inside the device'), (7, 'between devices'), (100, 'memset');

CREATE TABLE operation_kind (
    -- Words for operation.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- range: set by the program; operator; annotation: of a framework; model: an offline model, as a whole; category: by the
    -- program's word, what is allocated in it; module: the forward of a part of a model, by its path; model load, model
    -- unload: of an offline model, or of several in one file.
    name TEXT NOT NULL
);
INSERT INTO operation_kind VALUES (0, 'range'), (1, 'operator'), (2, 'annotation'), (3, 'model'), (4, 'category'),
    (5, 'module'), (6, 'model load'), (7, 'model unload');

CREATE TABLE z_operation_source (
    -- Words for allocation.operation_source: how it is known which operation an allocation belongs to.
    --
    -- Code.
    operation_source INTEGER PRIMARY KEY,
    -- thread: made by a thread inside the innermost open range of that thread, or, in an input that knows no threads,
    -- inside the innermost open range. Where there was none, by the first operator that ran with its workspace in the
    -- block: workspace: the thread that ran it had allocated the block itself; queue: another thread had (a task queue
    -- lay between), and neither streams nor order leave room for another block.
    name TEXT NOT NULL
);
INSERT INTO z_operation_source VALUES (1, 'thread'), (2, 'workspace'), (3, 'queue');

CREATE TABLE z_stream_call_kind (
    -- Words for stream_call.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- What was asked for.
    name TEXT NOT NULL
);
INSERT INTO z_stream_call_kind VALUES
    (0, 'other'), (1, 'create stream'), (2, 'destroy stream'), (3, 'synchronize stream'), (4, 'synchronize device'),
    (5, 'wait for event'), (6, 'create event'), (7, 'destroy event'), (8, 'record event'), (9, 'synchronize event'),
    (10, 'reset event'), (11, 'register allocator'), (12, 'unregister allocator'), (13, 'begin capture'),
    (14, 'end capture'), (15, 'execute graph'), (16, 'destroy graph'), (17, 'create notify'),
    (18, 'destroy notify'), (19, 'create context'), (20, 'destroy context');

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

CREATE TABLE z_moment_kind (
    -- Words for moment.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- peak: of a heap; end: of the trace; mark: set by the program; failure: of an allocation; device peak: of all driver
    -- memory of a device, as in view device_peak; reserve: a pool held the most that it ever did, once the request that it grew
    -- for was served. Where it held as much at its peak that is the moment, and there is no other.
    name TEXT NOT NULL
);
INSERT INTO z_moment_kind VALUES (1, 'peak'), (2, 'end'), (3, 'mark'), (4, 'failure'), (5, 'device peak'), (6, 'reserve');

CREATE TABLE z_malloc_policy (
    -- Words for allocation.policy of device memory that was not mapped.
    --
    -- Code: aclrtMemMallocPolicy, without its flags.
    policy INTEGER PRIMARY KEY,
    -- The pages that were asked for: huge are 2 MiB; P2P: memory that other devices reach.
    name TEXT NOT NULL
);
INSERT INTO z_malloc_policy VALUES
    (0, 'huge first'), (1, 'huge only'), (2, 'normal only'), (3, 'huge first for P2P'), (4, 'huge only for P2P'),
    (5, 'normal only for P2P'), (6, '1 GiB only'), (7, '1 GiB only for P2P');

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

CREATE TABLE anomaly_kind (
    -- Words for anomaly.kind.
    --
    -- Code.
    kind INTEGER PRIMARY KEY,
    -- What went wrong.
    name TEXT NOT NULL
);
INSERT INTO anomaly_kind VALUES
    (1, 'free of unknown memory'), (2, 'double free'), (3, 'wrong free call'), (4, 'copy past the end'),
    (5, 'use after free'), (6, 'overlapping allocation'), (7, 'unmap of unknown memory'), (8, 'zero size allocation'),
    (9, 'unregister of unknown memory'), (10, 'stream never destroyed'), (11, 'copy of unallocated memory');

CREATE TABLE z_pool_bucket (
    -- Words for z_pool_hit.bucket.
    --
    -- Code, by requested size.
    bucket INTEGER PRIMARY KEY,
    -- small: below 4 KiB; medium; large: above 1 MiB; unless the pool was declared with other bounds.
    name TEXT NOT NULL
);
INSERT INTO z_pool_bucket VALUES (0, 'small'), (1, 'medium'), (2, 'large');
