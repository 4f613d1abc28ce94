-- why_out_of_memory.sql: why memory ran out, and which sites held most of it then.
-- Parameters: :outcome 'fatal' or 'recovered' (default: both)
--             :top     sites of each case (default 3)
-- Columns:    out_of_memory_id number of the case; outcome recovered or fatal, NULL if unknown; verdict one word; explanation
--             a sentence with figures; heap name; site file, line and function; live_bytes bytes that the site held;
--             share_ratio 0 to 1, its share of what was live on the device
SELECT
    o.out_of_memory_id AS out_of_memory_id,
    o.outcome AS outcome,
    o.verdict AS verdict,
    o.explanation AS explanation,
    s.heap AS heap,
    s.site AS site,
    s.live_bytes AS live_bytes,
    s.share_ratio AS share_ratio
FROM out_of_memory AS o
LEFT JOIN (
    SELECT
        out_of_memory_site.out_of_memory_id AS out_of_memory_id,
        out_of_memory_site.heap AS heap,
        out_of_memory_site.site AS site,
        out_of_memory_site.live_bytes AS live_bytes,
        out_of_memory_site.share_ratio AS share_ratio,
        row_number() OVER (
            PARTITION BY out_of_memory_site.out_of_memory_id
            ORDER BY out_of_memory_site.live_bytes DESC, out_of_memory_site.heap, out_of_memory_site.site
        ) AS place
    FROM out_of_memory_site
) AS s ON s.out_of_memory_id = o.out_of_memory_id AND s.place <= coalesce(:top, 3)
WHERE :outcome IS NULL OR o.outcome = :outcome
ORDER BY o.out_of_memory_id, s.place;
