-- What the program was doing: ranges, steps and moments.

-- catalog: large
CREATE TABLE operation (
    -- A range of the program: an operator, a phase, an annotation. Its times are those of the call or range on the host that
    -- submits the work, not those of the device, which may begin later and go on after it.
    --
    -- Number of the operation in this database.
    operation_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- The thread that began it.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- A code of operation_kind.
    kind INTEGER NOT NULL REFERENCES operation_kind (kind),
    -- Name.
    name TEXT,
    -- Stream that it runs on. NULL: not known.
    stream INTEGER,
    -- Place of its begin in the order of events.
    begin_seq INTEGER,
    -- Place of its end in the order of events. NULL: it did not end in this trace.
    end_seq INTEGER,
    -- When the submitting call or range began. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- When it returned or ended. Unit: nanoseconds since the recording began. NULL: not known.
    end_ns INTEGER,
    -- The operation around it. NULL: none.
    parent_id INTEGER REFERENCES operation (operation_id),
    -- Number that the runtime gave the model. NULL: not a model, or not known.
    model_id INTEGER,
    -- What the operator or model, its load or unload returned: 0 is success, -1 that an exception left it. NULL: it is
    -- none of these, or it did not end in this trace.
    error_code INTEGER
);

CREATE TABLE step (
    -- A step of a training loop, as the program said, or as a place that recurs once in each tells: see source.
    --
    -- Number of the row.
    step_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- Its device. NULL: all of the process.
    device_id INTEGER REFERENCES device (device_id),
    -- Number of the step, as the program counts; of inferred ones from 1.
    number INTEGER NOT NULL,
    -- Place of its begin in the order of events.
    begin_seq INTEGER,
    -- Place of the event that ended it: the next step, or the end of the process. NULL: neither is in this trace.
    end_seq INTEGER,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: not known.
    end_ns INTEGER,
    -- How many steps of the process had begun with it, those before the detail included: as allocation.generation.
    generation INTEGER NOT NULL,
    -- 'marked': the program said where it begins; 'inferred': npumem-ingest found where steps begin (view step_origin).
    source TEXT NOT NULL
);

CREATE TABLE z_graph (
    -- A graph of the program: work of a stream that was captured, to be executed later. What was born in the capture is held
    -- by it until it is destroyed. Shown by the view z_graph_memory.
    --
    -- Number of the graph.
    graph_id INTEGER PRIMARY KEY,
    -- Its process.
    process_id INTEGER REFERENCES process (process_id),
    -- The device of the stream. NULL: not known.
    device_id INTEGER REFERENCES device (device_id),
    -- The thread that captured it last. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- Where its capture began. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- The stream that was captured.
    stream INTEGER NOT NULL,
    -- Place in the order of events at which its capture began.
    begin_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- Place at which its capture ended. NULL: that was not seen.
    end_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known, or not seen.
    end_ns INTEGER,
    -- 'lives' (to the end), 'destroyed', 'reset' (its device was), 'failed' (its capture: there never was a graph).
    end_kind TEXT NOT NULL,
    -- Place at which it was destroyed, or its device reset; of a capture that failed its end. NULL: it lived to the end.
    destroyed_seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known, or it lived to the end.
    destroyed_ns INTEGER,
    -- How often the program executed it. Unit: executions.
    execute_count INTEGER NOT NULL,
    -- Place of the last of these. NULL: there was none.
    last_execute_seq INTEGER,
    -- Driver memory that was allocated or mapped in its capture and was still there when it was destroyed, or at the end;
    -- segments of pools too. Unit: bytes.
    driver_bytes INTEGER NOT NULL,
    -- The same of blocks of pools and of workspaces; they lie in such memory, or in older segments. Unit: bytes.
    block_bytes INTEGER NOT NULL,
    -- The same of pinned memory. Unit: bytes.
    host_bytes INTEGER NOT NULL
);

CREATE TABLE failure (
    -- An allocation that failed; or a stream or an event that could not be made for want of resources.
    --
    -- Number of the failure in this database.
    failure_id INTEGER PRIMARY KEY,
    -- The heap that was asked. NULL: not known.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The thread that asked. NULL: not known.
    thread_id INTEGER REFERENCES thread (thread_id),
    -- The operation that it was part of. NULL: none.
    operation_id INTEGER REFERENCES operation (operation_id),
    -- Where. NULL: no stack was recorded.
    stack_id INTEGER REFERENCES stack (stack_id),
    -- Stream. NULL: not known.
    stream INTEGER,
    -- Place in the order of events.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- What was asked for. Unit: bytes. 0: a stream or an event.
    requested_bytes INTEGER,
    -- Code that the runtime returned: 207001 is out of memory. NULL: not known.
    error_code INTEGER,
    -- Free memory of the device just after. Unit: bytes. NULL: not known.
    device_free_bytes INTEGER,
    -- All memory of the device. Unit: bytes. NULL: not known.
    device_total_bytes INTEGER
);

CREATE TABLE moment (
    -- A point in the order of events at which the state is described.
    --
    -- Number of the moment.
    moment_id INTEGER PRIMARY KEY,
    -- 1: the peak of a heap; 2: the end of the trace; 3: a mark; 4: a failed allocation; 5: the peak of all driver memory of a
    -- device, as in view device_peak; 6: a pool held most, which was not at its peak.
    kind INTEGER NOT NULL REFERENCES z_moment_kind (kind),
    -- Text of a mark. NULL: not a mark.
    name TEXT,
    -- The process that it belongs to. NULL: all, or a device's peak.
    process_id INTEGER REFERENCES process (process_id),
    -- The heap whose peak it is, that held most, or that failed. NULL: all.
    heap_id INTEGER REFERENCES heap (heap_id),
    -- The failed allocation. NULL: not a failure.
    failure_id INTEGER REFERENCES failure (failure_id),
    -- Place in the order of events: the state is that right after this event. NULL: before the first event.
    seq INTEGER,
    -- When. Unit: nanoseconds since the recording began. NULL: not known.
    ns INTEGER,
    -- The device whose peak it is, as the first process that used it sees it. NULL: not a device's peak.
    device_id INTEGER REFERENCES device (device_id),
    -- The input that it came from.
    input_id INTEGER NOT NULL REFERENCES input (input_id)
);

CREATE TABLE z_pause (
    -- When a process was not recorded in full (npumem-record --start-paused, --from-step, --ctl stop, npumem_pause): no
    -- copies, operations and stacks are here of that time. Steps, failures and samples are.
    --
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- Place of its begin in the order of events. NULL: in a part of the recording that was not kept.
    begin_seq INTEGER,
    -- When it began. Unit: nanoseconds since the recording began. NULL: not known.
    begin_ns INTEGER,
    -- Place of its end. NULL: it lasted until the process, or the recording, ended.
    end_seq INTEGER,
    -- When it ended. Unit: nanoseconds since the recording began. NULL: as end_seq.
    end_ns INTEGER,
    -- 1: allocations and frees of that time are here, without stacks; 0: only what they had led to at its end, at
    -- failures and at snapshots stands there, as if it had happened then.
    is_memory_told INTEGER NOT NULL,
    -- 0: what the pause led to is not known. NULL: it did not end.
    is_end_known INTEGER
);

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
