-- What memory is for.

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
