-- What several processes have in common, in the order in which it is told.
-- Only if: SELECT EXISTS (SELECT 1 FROM finding WHERE severity IN ('fault', 'warning'))
INSERT INTO finding_group (
    severity, kind, site, verdict, holder_count, all_count, total_bytes, total_count, least_amount, median_amount, most_amount, worst_rank,
    worst_pid, worst_host, sentence
)
WITH
    -- A row a process and group; the worst of several heaps, but of leaks and calls the sum.
    part AS (
        SELECT
            f.kind AS kind,
            f.verdict AS verdict,
            CASE WHEN f.kind = 'leak' THEN f.site END AS site,
            f.severity AS severity,
            f.host AS host,
            f.rank AS rank,
            f.pid AS pid,
            coalesce('r' || f.rank, coalesce(f.host, '') || ' ' || coalesce(f.pid, '')) AS name,
            sum(f.bytes) AS bytes,
            sum(f.count) AS amount_count,
            max(CASE WHEN f.unit = 'bytes a step' THEN f.value END) AS rate,
            min(f.source_id) AS first_id,
            CASE
                WHEN f.kind = 'leak' THEN sum(f.bytes)
                WHEN f.kind IN ('misuse', 'out of memory', 'object leak') THEN sum(f.count)
                WHEN f.kind IN ('pool hit rate', 'zero copy') THEN min(f.value)
                ELSE max(f.value)
            END AS amount,
            CASE WHEN f.kind IN ('pool hit rate', 'zero copy') THEN -1 ELSE 1 END AS direction
        FROM finding AS f
        WHERE f.severity IN ('fault', 'warning') AND f.kind NOT IN ('shared device', 'uneven rank') -- each is of several
        GROUP BY f.kind, f.verdict, CASE WHEN f.kind = 'leak' THEN f.site END, f.severity, f.host, f.rank, f.pid
    ),
    placed AS (
        SELECT
            p.*,
            row_number() OVER (
                PARTITION BY p.kind, p.verdict, p.site, p.severity
                ORDER BY p.amount * p.direction DESC, p.rank, p.pid, p.host
            ) AS worst_place,
            row_number() OVER (PARTITION BY p.kind, p.verdict, p.site, p.severity ORDER BY p.amount, p.rank, p.pid, p.host) AS place,
            count(*) OVER (PARTITION BY p.kind, p.verdict, p.site, p.severity) AS part_count
        FROM part AS p
    ),
    -- Ranks, or where there are none processes that used memory; and who has a finding all the same.
    whole AS (
        SELECT coalesce(sum(member_count), 0) AS all_count
        FROM (
            SELECT name, max(member_count) AS member_count
            FROM (
                SELECT 'r' || rank AS name, 1 AS member_count
                FROM process
                WHERE rank IS NOT NULL
                UNION ALL
                SELECT coalesce(host, '') || ' ' || coalesce(pid, ''), count(DISTINCT process_id)
                FROM z_rank_summary
                WHERE NOT EXISTS (SELECT 1 FROM process WHERE rank IS NOT NULL)
                GROUP BY host, pid
                UNION ALL
                SELECT name, 1
                FROM part
            )
            GROUP BY name
        )
    ),
    summed AS (
        SELECT
            p.kind AS kind,
            p.verdict AS verdict,
            p.site AS site,
            p.severity AS severity,
            count(DISTINCT p.name) AS holder_count,
            w.all_count AS all_count,
            sum(p.bytes) AS total_bytes,
            sum(p.amount_count) AS total_count,
            max(p.rate) AS rate,
            min(p.first_id) AS first_id,
            min(p.amount) AS least_amount,
            max(CASE WHEN p.place = (p.part_count + 1) / 2 THEN p.amount END) AS median_amount,
            max(p.amount) AS most_amount,
            max(CASE WHEN p.worst_place = 1 THEN p.amount END) AS worst_amount,
            max(CASE WHEN p.worst_place = 1 THEN p.rank END) AS worst_rank,
            max(CASE WHEN p.worst_place = 1 THEN p.pid END) AS worst_pid,
            max(CASE WHEN p.worst_place = 1 THEN p.host END) AS worst_host
        FROM placed AS p
        JOIN whole AS w
        GROUP BY p.kind, p.verdict, p.site, p.severity
    ),
    grouped AS (
        SELECT
            s.*,
            said(
                say(
                    CASE WHEN s.worst_rank IS NULL THEN 'screen.ranks.pid' ELSE 'screen.ranks.rank' END,
                    'n', CAST(coalesce(s.worst_rank, s.worst_pid, '?') AS TEXT)
                )
            ) AS who
        FROM summed AS s
    )
SELECT
    g.severity,
    g.kind,
    CASE g.kind WHEN 'misuse' THEN (SELECT f.site FROM finding AS f WHERE f.kind = 'misuse' AND f.source_id = g.first_id) ELSE g.site END,
    g.verdict,
    g.holder_count,
    g.all_count,
    g.total_bytes,
    g.total_count,
    g.least_amount,
    g.median_amount,
    g.most_amount,
    g.worst_rank,
    g.worst_pid,
    g.worst_host,
    CASE
        WHEN g.kind = 'leak'
            THEN said(
                say('screen.ranks.leak', 'leak_bytes', g.total_bytes),
                say(
                    'screen.ranks.leak_on',
                    'n', g.holder_count,
                    'all', g.all_count,
                    '=who', g.who
                ),
                CASE WHEN g.rate > 0 THEN say('screen.ranks.leak_rate', 'rate_bytes', CAST(g.rate AS INTEGER)) END,
                say('screen.ranks.leak_blocks', 'n', g.total_count)
            )
        WHEN g.kind = 'misuse'
            THEN said(say(coalesce(m.code, 'screen.misuse.unallocated'), 'n', g.total_count), say('screen.misuse.first'))
        WHEN w.code IS NOT NULL
            THEN said(
                say(
                    'screen.ranks.verdict',
                    '=measure', said(say(w.code)),
                    'n', g.holder_count,
                    'all', g.all_count,
                    '=who', g.who,
                    '=value', CASE g.kind
                        WHEN 'allocation cost' THEN said(say('screen.each', 'each_cost_ns', g.worst_amount))
                        WHEN 'object leak' THEN said(say('screen.count', 'n', CAST(g.worst_amount AS INTEGER)))
                        WHEN 'host growth' THEN said(say('screen.hourly', 'rate_bytes', CAST(g.worst_amount AS INTEGER)))
                        WHEN 'pool hit rate' THEN said(say('screen.share_warm', 'ratio', g.worst_amount))
                        ELSE said(say('screen.share', 'ratio', g.worst_amount))
                    END
                )
            )
    END
FROM grouped AS g
LEFT JOIN temp.said_word AS w ON w.topic = 'measure' AND w.word = g.kind
LEFT JOIN temp.said_word AS m ON m.topic = 'misuse' AND m.word = g.verdict
ORDER BY
    CASE g.kind WHEN 'out of memory' THEN 0 WHEN 'leak' THEN 1 WHEN 'misuse' THEN 2 ELSE 3 END,
    CASE g.kind WHEN 'leak' THEN g.verdict = 'unreleased' END,
    CASE g.kind WHEN 'leak' THEN g.total_bytes WHEN 'misuse' THEN g.total_count END DESC,
    CASE g.kind WHEN 'leak' THEN g.site END,
    g.verdict,
    g.kind;
