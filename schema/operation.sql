-- What the program was doing.

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
