-- site_leaks.sql: what a site, a part of whose name is :site, leaks, in processes of a :rank or in all.
SELECT
    rank,
    pid,
    device,
    heap,
    site,
    verdict,
    leak_count,
    leak_bytes,
    bytes_per_step,
    evidence,
    top_stack_id
FROM leak_by_site
WHERE instr(site, :site) > 0
    AND (:rank IS NULL OR rank = :rank)
ORDER BY leak_bytes DESC, site, heap, rank, pid, verdict;
