-- stream_number.sql: a stream that rows name by its number.
INSERT INTO z_stream_number
VALUES (:stream_number, :heap_id, :stream);
