-- snapshot_streams.part.sql: carried: the stream of a segment. Readers look for a block in segments of its own stream.
-- What the driver does not say of a segment, its first block does that has a stream; a block without one is of that of
-- its segment. In mapped memory a block may lie in several pieces, so that this says nothing.
carried (id, stream, seq) AS (
    SELECT segment_id, stream, min(alloc_seq)
    FROM allocation
    WHERE segment_id IS NOT NULL AND stream IS NOT NULL
    GROUP BY segment_id
)
