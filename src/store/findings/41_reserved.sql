-- Of fragmentation that is not good: how much was reserved, and whether the share is a bound by more than is shown.
-- Only if: SELECT EXISTS (SELECT 1 FROM temp.said_measure WHERE measure = 'fragmentation' AND verdict IN ('minor', 'warning', 'danger'))
INSERT INTO said_reserved
SELECT
    host,
    rank,
    pid,
    device,
    heap,
    level,
    moment,
    max(reserved_bytes),
    max(max_ratio - min_ratio > 0.001)
FROM z_fragmentation_verdict
GROUP BY host, rank, pid, device, heap, level, moment;
