-- allocation_streams.sql: streams by their numbers in rows of allocations.
SELECT
    stream_number,
    stream
FROM z_stream_number
ORDER BY stream_number;
