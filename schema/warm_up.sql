-- Which steps are not like the later ones.

CREATE VIEW z_warm_up (
    -- How many steps of each process are its warm-up, in which a pool has to grow and state is made that later steps find
    -- there: the first two, of two steps the first. Every figure "after the warm-up" goes by it. Processes without steps
    -- are left out.
    --
    -- begin process
    -- Name of the machine. NULL: not known.
    host,
    -- Rank of the process. NULL: none.
    rank,
    -- Process number. NULL: not known.
    pid,
    -- end process
    -- Always NULL: steps are of a process.
    device,
    -- Always NULL: steps are of a process.
    heap,
    -- Always NULL: steps are of a process.
    level,
    -- Number of the process.
    process_id,
    -- Steps of the process. Unit: steps.
    step_count,
    -- Those of them that are warm-up: of one step all. Unit: steps.
    warm_up_count
) AS
SELECT
    p.host, p.rank, p.pid,
    NULL,
    NULL,
    NULL,
    p.process_id,
    n.step_count,
    CASE WHEN n.step_count > 2 THEN 2 ELSE 1 END
FROM (
    SELECT z_growth_step.process_id, max(z_growth_step.generation) AS step_count
    FROM z_growth_step -- has the last step of each process, and few others
    GROUP BY z_growth_step.process_id
) AS n
JOIN process AS p ON p.process_id = n.process_id;
