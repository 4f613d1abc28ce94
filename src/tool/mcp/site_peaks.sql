-- site_peaks.sql: what a site, a part of whose name is :site, held at the peak of each heap, of a
-- :rank or of all.
SELECT
    rank,
    pid,
    device,
    heap,
    site,
    live_count,
    live_bytes,
    top_stack_id
FROM peak_by_site
WHERE instr(site, :site) > 0
    AND (:rank IS NULL OR rank = :rank)
ORDER BY live_bytes DESC, site, heap, rank, pid;
