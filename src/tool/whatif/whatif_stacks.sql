-- whatif_stacks.sql: stacks with a frame of emptying_frames.sql, and all that are called from them. And those that end where a
-- request failed, with their callers: who asked for it.
WITH RECURSIVE
    emptying (stack_id, parent_id, frame_id) AS (
        SELECT stack_id, parent_id, frame_id
        FROM stack
        WHERE frame_id IN (
            SELECT frame_id
            FROM frame
            WHERE instr(function, 'empty_cache') OR instr(function, 'emptyCache')
        )
        UNION
        SELECT s.stack_id, s.parent_id, s.frame_id
        FROM stack AS s
        JOIN emptying ON s.parent_id = emptying.stack_id
    ),
    asking (stack_id, parent_id, frame_id) AS (
        SELECT stack_id, parent_id, frame_id
        FROM stack
        WHERE frame_id IN (SELECT s.frame_id FROM failure AS f JOIN stack AS s ON s.stack_id = f.stack_id)
    )
SELECT
    stack_id,
    parent_id,
    frame_id
FROM emptying
UNION
SELECT
    stack_id,
    parent_id,
    frame_id
FROM asking
UNION
SELECT
    stack_id,
    parent_id,
    frame_id
FROM stack
WHERE stack_id IN (SELECT a.parent_id FROM asking AS a);
