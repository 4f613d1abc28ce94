-- Where in the program something happened: functions of files and libraries.

CREATE TABLE z_module (
    -- A program or library that a process had loaded. Python code has none.
    --
    -- Number of the module in this database.
    module_id INTEGER PRIMARY KEY,
    -- The process.
    process_id INTEGER REFERENCES process (process_id),
    -- Its file, as the process saw it. NULL: not known.
    path TEXT,
    -- What tells builds apart, in hexadecimal: npumem-ingest --symbols DIR looks for debug files by it. NULL: not known, or
    -- the file has none.
    build_id TEXT,
    -- Address in the process at which its file begins. NULL: not known.
    address INTEGER,
    -- Room that it takes there. Unit: bytes. NULL: not known.
    size_bytes INTEGER
);

CREATE TABLE frame (
    -- One place in the program's code: a line of a function. Code that was inlined is in several functions, which are one
    -- frame each (inlined_in), with the same place in the module.
    --
    -- Number of the frame in this database.
    frame_id INTEGER PRIMARY KEY,
    -- Function, demangled. NULL: not known.
    function TEXT,
    -- Source file as it was recorded. NULL: not known.
    file TEXT,
    -- Line in it, from 1: of the place or, in a function that another was inlined into, of that call. NULL: not known.
    line INTEGER,
    -- Path of the program or library; 'python3.N' for a line of Python. NULL: not known.
    module TEXT,
    -- Place of the call in the module. Unit: bytes. NULL: not known.
    offset INTEGER,
    -- How views show it: 'file:line function', or 'module+0xoffset function', without the folders.
    label TEXT NOT NULL,
    -- 1: a pattern of table plumbing matches; 0: none does.
    is_plumbing INTEGER NOT NULL,
    -- The frame of the function that this one was inlined into. NULL: it was not, or it is not known.
    inlined_in INTEGER REFERENCES frame (frame_id),
    -- The module, in one of the processes that have it. NULL: not known, or the code is interpreted.
    module_id INTEGER REFERENCES z_module (module_id),
    -- 1: no place in the code, but the site of stacks that are cut (stack.is_cut) and have no frame but plumbing:
    -- '(stack cut)'. What was allocated there is judged by its sizes alone, and not compared between runs or ranks; 0: not.
    is_cut INTEGER NOT NULL
);
