-- Where in the program something happened.

CREATE TABLE plumbing (
    -- Patterns of frames that are never shown as a site: allocators, frameworks, unwinders. A frame is plumbing when one
    -- pattern matches; npumem-ingest --site-rules FILE adds patterns. Nothing that depends on what ran is among them, so
    -- that one line gives one site in every run. Two targets say no plumbing: 'library' and 'own'.
    --
    -- Number of the pattern.
    plumbing_id INTEGER PRIMARY KEY,
    -- What it is matched against: 'function' (without its return type), 'python' (the function of a frame of Python), 'file',
    -- its 'name' (the file without folders) or 'module' of a frame. Built-in patterns of 'function' are for native frames
    -- alone. Of files of Python: 'compiled' (written by a compiler of graphs, and plumbing), 'library' (its lines give way to
    -- the program's own); 'own': the package of a library (the folder in site-packages) that is the program's own.
    target TEXT NOT NULL,
    -- GLOB pattern: * any text, ? any character, [...] one of these.
    pattern TEXT NOT NULL,
    -- 'built in', or 'site rules' for a pattern of --site-rules or --own.
    origin TEXT NOT NULL
);

CREATE TABLE z_wrapper (
    -- Functions that may be wrappers through which the program allocates: three quarters of the stacks of a heap go through
    -- them on the way in, from at least three other functions, and from more places than lie inside. They are sites all the
    -- same: in another run the share is another. `function NAME` in a file of --site-rules says that one is a wrapper, here
    -- and in what is compared with it.
    --
    -- The heap.
    heap_id INTEGER NOT NULL REFERENCES heap (heap_id),
    -- The function's name, as a pattern for --site-rules.
    function TEXT NOT NULL
);

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
    -- '(stack cut)'. What was allocated there is neither judged nor compared between runs or ranks; 0: not.
    is_cut INTEGER NOT NULL
);

CREATE TABLE stack (
    -- A call stack: its innermost frame, and the stack of its caller (a prefix tree). Functions that were inlined stand in
    -- it like others.
    --
    -- Number of the stack in this database.
    stack_id INTEGER PRIMARY KEY,
    -- The stack of the caller. NULL: there is none, this is the outermost frame.
    parent_id INTEGER REFERENCES stack (stack_id),
    -- The innermost frame.
    frame_id INTEGER REFERENCES frame (frame_id),
    -- The site: the innermost Python frame that is not plumbing or, where that is of a library, the nearest caller that is a
    -- function of the program's own, if there is one; else the innermost frame that is not (a native one below
    -- plumbing of Python only if its module is known); else the innermost one, Python before native. Without Python the
    -- node of a backward pass goes before all, as a frame of its own. Of frames with the same function, file and line the
    -- one with the smallest number stands for all, so that equal sites are equal numbers.
    site_frame_id INTEGER REFERENCES frame (frame_id),
    -- 1: callers are missing: the recorder could not find the caller of its outermost frame (code without rules for it, as that of
    -- a JIT); by frame pointers, or in a trace of before 1.5: it ends before the beginning of its thread, with fewer frames than were asked for;
    -- 0: none are, or it is not known.
    is_cut INTEGER NOT NULL
);
