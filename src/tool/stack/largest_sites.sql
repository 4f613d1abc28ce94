-- largest_sites.sql: which sites there are: the three that held most at the peaks of their heaps.
SELECT site AS site
FROM peak_by_site
WHERE site NOT LIKE '(%'
GROUP BY site
ORDER BY max(live_bytes) DESC, site
LIMIT 3;
