-- Where in the program something happened.

CREATE TABLE plumbing (
    -- Patterns of frames that are never shown as a site: allocators, frameworks, unwinders, and the wrappers through
    -- which the program allocates. A frame is plumbing when one pattern matches; npumem-ingest --site-rules FILE adds
    -- patterns.
    --
    -- Number of the pattern.
    plumbing_id INTEGER PRIMARY KEY,
    -- What it is matched against: 'function' (without its return type), 'file' or 'module' of a frame.
    target TEXT NOT NULL,
    -- GLOB pattern: * any text, ? any character, [...] one of these.
    pattern TEXT NOT NULL,
    -- 'built in'; 'site rules' for a pattern of --site-rules; 'wrapper' for a function that nearly all stacks of a heap
    -- go through, called from at least three others, and from more places than lie inside it.
    origin TEXT NOT NULL
);

CREATE TABLE frame (
    -- One place in the program's code.
    --
    -- Number of the frame in this database.
    frame_id INTEGER PRIMARY KEY,
    -- Function, demangled. NULL: not known.
    function TEXT,
    -- Source file as it was recorded. NULL: not known.
    file TEXT,
    -- Line in it, from 1. NULL: not known.
    line INTEGER,
    -- Path of the program or library; 'python3.N' for a line of Python. NULL: not known.
    module TEXT,
    -- Place of the call in the module. Unit: bytes. NULL: not known.
    offset INTEGER,
    -- How views show it: 'file:line function', or 'module+0xoffset function', without the folders.
    label TEXT NOT NULL,
    -- 1: a pattern of table plumbing matches; 0: none does.
    is_plumbing INTEGER NOT NULL
);

CREATE TABLE stack (
    -- A call stack: its innermost frame, and the stack of its caller (a prefix tree).
    --
    -- Number of the stack in this database.
    stack_id INTEGER PRIMARY KEY,
    -- The stack of the caller. NULL: there is none, this is the outermost frame.
    parent_id INTEGER REFERENCES stack (stack_id),
    -- The innermost frame.
    frame_id INTEGER REFERENCES frame (frame_id),
    -- The site: the innermost Python frame that is not plumbing; else the innermost frame that is not, or the innermost
    -- one when all are. Of frames with the same
    -- function, file and line the one with the smallest number stands for all, so that equal sites are equal numbers.
    site_frame_id INTEGER REFERENCES frame (frame_id)
);
