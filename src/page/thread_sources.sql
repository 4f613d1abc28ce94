-- thread_sources.sql: the number of the source by which an operation was open at the birth.
SELECT operation_source AS source_code
FROM z_operation_source
WHERE name = 'thread';
