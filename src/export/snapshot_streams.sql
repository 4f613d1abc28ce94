-- snapshot_streams.sql: the streams of segments that say none, by what lies in them.
-- With: snapshot_streams.part.sql
SELECT
    id AS segment_id,
    stream
FROM carried;
