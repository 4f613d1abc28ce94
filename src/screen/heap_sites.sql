-- heap_sites.sql: the sites that held most at the peak of a heap.
SELECT
    site,
    live_bytes
FROM peak_by_site
WHERE rank IS :rank
    AND pid IS :pid
    AND device IS :device
    AND host IS :host
    AND heap IS :heap
    AND level IS :level
    AND live_bytes > 0
ORDER BY live_bytes DESC, site
LIMIT :most_count;
