-- snapshot_facts.sql: how many devices a snapshot has, of which kinds, inputs of which rows of allocations are missing, and
-- those that do not hold all that happened to memory.
-- With: snapshot_devices.part.sql
SELECT
    (SELECT coalesce(max(number) + 1, 0) FROM dev) AS device_count,
    (SELECT count(*) FROM device WHERE kind = 'npu') AS npu_count,
    (SELECT count(*) FROM device WHERE kind = 'gpu') AS gpu_count,
    (SELECT count(*) FROM input WHERE detail <> 'all') AS partial_count,
    (SELECT count(*) FROM input WHERE peak_basis IN ('estimate', 'curve', 'none')) AS inexact_count;
