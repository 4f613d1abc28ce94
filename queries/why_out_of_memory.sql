-- why_out_of_memory.sql: why memory ran out, and which sites held most of it then.
-- Parameters: :outcome 'fatal' or 'recovered' (default: both)
--             :top     sites of each case (default 3)
-- Columns:    out_of_memory_id number of the case; outcome recovered or fatal, NULL if unknown; verdict one word; explanation
--             a sentence with figures; heap name; site file, line and function; live_bytes bytes that the site held;
--             share_ratio 0 to 1, its share of what was live on the device
WITH
    placed (out_of_memory_id, heap, site, live_bytes, share_ratio, place) AS (
        SELECT
            s.out_of_memory_id,
            s.heap,
            s.site,
            s.live_bytes,
            s.share_ratio,
            row_number() OVER (PARTITION BY s.out_of_memory_id ORDER BY s.live_bytes DESC, s.heap, s.site)
        FROM z_out_of_memory_site AS s
    ),
    told (out_of_memory_id, heap, site, live_bytes, share_ratio, place) AS (
        SELECT
            p.out_of_memory_id,
            p.heap,
            p.site,
            p.live_bytes,
            p.share_ratio,
            p.place
        FROM placed AS p
        WHERE p.place <= coalesce(:top, 3)
        UNION ALL
        SELECT
            c.out_of_memory_chain_id,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL
        FROM z_out_of_memory_chain AS c
        WHERE coalesce(:top, 3) < 1
            OR NOT EXISTS (
                SELECT 1
                FROM z_out_of_memory_stack AS k
                WHERE k.out_of_memory_chain_id = c.out_of_memory_chain_id
            )
    )
SELECT
    o.out_of_memory_id AS out_of_memory_id,
    o.outcome AS outcome,
    o.verdict AS verdict,
    o.explanation AS explanation,
    t.heap AS heap,
    t.site AS site,
    t.live_bytes AS live_bytes,
    t.share_ratio AS share_ratio
FROM told AS t
-- From the sites to the cases, which have a key: the other way round each case would read all sites.
CROSS JOIN out_of_memory AS o ON o.out_of_memory_id = t.out_of_memory_id
WHERE :outcome IS NULL OR o.outcome = :outcome
ORDER BY o.out_of_memory_id, t.place
-- begin guard coalesce(:outcome, :top); -1
LIMIT CASE
    WHEN coalesce(:outcome, :top) IS NULL
        AND EXISTS (SELECT 1 FROM sqlite_temp_master AS z WHERE z.name = 'sqlite_parameters')
        THEN 'error: unknown parameter'
    ELSE -1
END;
-- end guard
