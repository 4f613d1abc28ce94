-- The measures of view health; of fragmentation there is more to say (41_reserved.sql).
CREATE TEMP TABLE said_measure AS
SELECT *
FROM health
WHERE verdict <> 'not applicable';
CREATE TEMP TABLE said_reserved (
    host,
    rank INTEGER,
    pid INTEGER,
    device,
    heap,
    level,
    moment,
    reserved_bytes,
    is_bound
);
