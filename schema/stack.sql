-- Call stacks, and their text.

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
    -- 1: callers are missing: the recorder could not find the caller of its outermost frame (code without rules for it, as that
    -- of a JIT); by frame pointers, or in a trace of before 1.5: it ends before the beginning of its thread, with fewer frames
    -- than were asked for; 0: none are, or it is not known.
    is_cut INTEGER NOT NULL
);

-- catalog: large, not in csv
CREATE VIEW stack_text (
    -- Each call stack as text, for whatever has a stack_id (allocation, leak) or a top_stack_id (leak_by_site, peak_by_site).
    --
    -- The stack.
    stack_id,
    -- How many frames it has, up to 4096. Unit: frames.
    depth,
    -- Its frames as views show them (frame.label), one a line, the innermost first; of more than 4096 those.
    text
) AS
SELECT
    s.stack_id,
    (
        WITH RECURSIVE up (parent_id, depth) AS (
            SELECT
                s.parent_id,
                1
            UNION ALL
            SELECT
                p.parent_id,
                up.depth + 1
            FROM up
            JOIN stack AS p ON p.stack_id = up.parent_id
            WHERE up.depth < 4096
        )
        SELECT max(up.depth)
        FROM up
    ),
    (
        WITH RECURSIVE up (frame_id, parent_id, depth) AS (
            SELECT
                s.frame_id,
                s.parent_id,
                1
            UNION ALL
            SELECT
                p.frame_id,
                p.parent_id,
                up.depth + 1
            FROM up
            JOIN stack AS p ON p.stack_id = up.parent_id
            WHERE up.depth < 4096
        )
        SELECT group_concat(lines.label, char(10))
        FROM (
            SELECT coalesce(f.label, '??') AS label
            FROM up
            LEFT JOIN frame AS f ON f.frame_id = up.frame_id
            ORDER BY up.depth
        ) AS lines
    )
FROM stack AS s;
