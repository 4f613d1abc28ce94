-- Where rows came from, and what was lost on the way.

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
    -- failed allocation of their process, or at the end, and the operations that these name; 'window': those, and all rows of
    -- what was live, or happened, from event window_begin_seq to window_end_seq (--window); 'none': no allocations.
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
    -- Where detail is 'window': the first event of it. NULL: it is not.
    window_begin_seq INTEGER,
    -- The last event of it: what was live right after any event from the one before window_begin_seq on has its row. NULL: detail is
    -- not 'window'.
    window_end_seq INTEGER,
    -- When the first event of it was. Unit: nanoseconds since the recording began. NULL: detail is not 'window', or not known.
    window_begin_ns INTEGER,
    -- When the first event behind it was. Unit: nanoseconds since the recording began. NULL: detail is not 'window', there is none, or
    -- its time is not known.
    window_end_ns INTEGER,
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
