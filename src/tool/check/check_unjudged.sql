-- check_unjudged.sql: why findings of a :kind are not judged, of the run or of places that a filter chooses; :of_rising: only what
-- keeps servers from being judged, which run for less than the minimum; :allows_partial: but for what is missing.
SELECT f.text AS text, f.sentence AS sentence
FROM finding AS f
WHERE f.kind = :kind
    AND f.severity = 'not judged'
    AND (:rank IS NULL OR f.rank IS NULL OR f.rank = :rank)
    AND (:heap IS NULL OR f.heap IS NULL OR f.heap = :heap OR f.level = :heap)
    AND (:allows_partial = 0 OR f.reason NOT IN ('not all was recorded', 'still recording'))
    AND (:of_rising = 0 OR f.reason NOT IN ('no steps', 'too few steps', 'not seen to end', 'stack cut')
        OR (f.reason = 'no steps' AND NOT EXISTS (
            SELECT 1
            FROM process AS p
            JOIN heap AS h ON h.process_id = p.process_id
            JOIN usage AS u ON u.heap_id = h.heap_id
            WHERE p.host IS f.host AND p.rank IS f.rank AND p.pid IS f.pid
            GROUP BY p.process_id
            HAVING max(u.last_ns) / 60000000000 - min(u.last_ns) / 60000000000
                >= (SELECT least FROM minimum WHERE judgement = 'rising')
        )))
ORDER BY f.finding_id
LIMIT 1;
