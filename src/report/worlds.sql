-- worlds.sql: how many hosts, inputs and ranks there are; the size of the world where all agree and no rank is outside
-- of it; the size of a device where all are alike and no process has several. 0 for what is not so.
SELECT
    (SELECT count(DISTINCT host) FROM process) AS host_count,
    (SELECT count(*) FROM input) AS input_count,
    (
        SELECT CASE
            WHEN min(world_size) = max(world_size) AND max(rank) < max(world_size) AND min(rank) >= 0
                THEN max(world_size)
            ELSE 0
        END
        FROM process
        WHERE rank IS NOT NULL
    ) AS world_count,
    (SELECT count(DISTINCT rank) FROM process) AS rank_count,
    (
        SELECT CASE
            WHEN min(capacity_bytes) = max(capacity_bytes) AND count(capacity_bytes) = count(*)
                AND count(DISTINCT process_id) = count(*)
                THEN max(capacity_bytes)
            ELSE 0
        END
        FROM device
    ) AS capacity_bytes;
