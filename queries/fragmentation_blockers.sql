-- fragmentation_blockers.sql: which site keeps the pool from giving memory back, and how much.
-- Parameters: :at     which moment: 'peak', 'reserve', 'failure', 'end', or the text of a mark (default 'peak')
--             :moment the same
--             :top    rows to return for each pool and moment (default 10)
-- Columns:    pid process; device number; heap name of the pool; seq place of the moment in the order of events; site
--             file, line and function; hostage_bytes free bytes in segments that hold its blocks, split evenly over the
--             blocks of each segment (NULL: events were lost); hostage_ratio its share of all that is inactive split;
--             sole_hostage_bytes part of that in segments with no other blocks; block_count blocks; block_bytes their
--             size; age_ns nanoseconds since the oldest was born; worst_address hexadecimal text, worst_block_bytes and
--             worst_hostage_bytes of the block that holds most; is_estimate 1: not certain
SELECT
    b.pid AS pid,
    b.device AS device,
    b.heap AS heap,
    b.seq AS seq,
    b.site AS site,
    b.hostage_bytes AS hostage_bytes,
    b.hostage_ratio AS hostage_ratio,
    b.sole_hostage_bytes AS sole_hostage_bytes,
    b.block_count AS block_count,
    b.block_bytes AS block_bytes,
    b.age_ns AS age_ns,
    b.worst_address AS worst_address,
    b.worst_block_bytes AS worst_block_bytes,
    b.worst_hostage_bytes AS worst_hostage_bytes,
    b.is_estimate AS is_estimate
FROM (
    SELECT
        v.pid,
        v.device,
        v.heap,
        v.seq,
        v.moment_id,
        v.host,
        v.site,
        v.is_baseline,
        v.hostage_bytes,
        v.hostage_ratio,
        v.sole_hostage_bytes,
        v.block_count,
        v.block_bytes,
        v.age_ns,
        v.worst_address,
        v.worst_block_bytes,
        v.worst_hostage_bytes,
        v.is_estimate,
        row_number() OVER (
            PARTITION BY v.moment_id, v.host, v.pid, v.device, v.heap
            ORDER BY v.site = '(others)', v.hostage_bytes DESC, v.site, v.is_baseline
        ) AS place
    FROM fragmentation_blocker AS v
    WHERE v.moment = coalesce(:at, :moment, 'peak')
) AS b
WHERE b.place <= coalesce(:top, 10)
ORDER BY b.host, b.pid, b.device, b.heap, b.seq, b.moment_id, b.place
-- begin guard_moment coalesce(:at, :moment, :top)
LIMIT CASE
    WHEN coalesce(:at, :moment, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    WHEN coalesce(:at, :moment) IS NOT NULL
        AND coalesce(:at, :moment) NOT IN (
            SELECT x.name FROM z_moment_kind AS x
            UNION ALL
            SELECT coalesce(y.name, '') FROM moment AS y WHERE y.kind = 3
        )
        THEN 'error: unknown moment'
    ELSE -1
END;
-- end guard_moment
