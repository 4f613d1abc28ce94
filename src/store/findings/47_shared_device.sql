-- Devices that held memory of several ranks at their peak, of which some use a device of their own as well: they have loaded something to
-- a device that is not theirs. A fault where all together was more than the device has.
-- Only if: SELECT count(DISTINCT rank) > 1 FROM process
INSERT INTO finding (
    severity, kind, host, device, level, site, verdict, basis, value, unit, bytes, count, moment, seq, sentence, remedy, source_view
)
WITH
    share AS (
        SELECT
            m.moment_id AS moment_id,
            m.seq AS seq,
            p.host AS host,
            p.rank AS rank,
            coalesce(d.physical_ordinal, d.ordinal) AS device,
            s.recorded_bytes AS bytes,
            EXISTS (
                SELECT 1
                FROM heap AS h
                JOIN z_heap_sum AS t ON t.heap_id = h.heap_id
                JOIN device AS o ON o.device_id = h.device_id
                WHERE o.process_id = p.process_id AND h.level = 1 AND t.peak_bytes > 0
                    AND coalesce(o.physical_ordinal, o.ordinal) <> coalesce(d.physical_ordinal, d.ordinal)
            ) AS is_guest
        FROM moment AS m
        JOIN z_device_sample AS s ON s.moment_id = m.moment_id
        JOIN device AS d ON d.device_id = s.device_id
        JOIN process AS p ON p.process_id = d.process_id
        WHERE m.kind = 5 AND s.recorded_bytes > 0 AND p.rank IS NOT NULL
    ),
    crowd AS (
        SELECT
            moment_id,
            seq,
            host,
            device,
            count(DISTINCT rank) AS rank_count,
            count(DISTINCT CASE WHEN is_guest THEN rank END) AS guest_count,
            sum(CASE WHEN is_guest THEN bytes ELSE 0 END) AS guest_bytes
        FROM share
        GROUP BY moment_id, host, device
    ),
    place AS (
        SELECT
            c.*,
            k.peak_bytes AS peak_bytes,
            k.capacity_bytes AS capacity_bytes,
            (
                SELECT g.site
                FROM peak_by_site AS g
                WHERE g.host IS c.host AND g.device = c.device AND g.level = 'driver' AND g.site IS NOT NULL
                    AND EXISTS (
                        SELECT 1 FROM share AS x WHERE x.moment_id = c.moment_id AND x.rank = g.rank AND x.is_guest
                    )
                GROUP BY g.site
                ORDER BY count(DISTINCT g.rank) DESC, sum(g.live_bytes) DESC, g.site
                LIMIT 1
            ) AS site
        FROM crowd AS c
        JOIN device_peak AS k ON k.host IS c.host AND k.device = c.device AND k.peak_seq IS c.seq
        WHERE c.rank_count > 1 AND c.guest_count > 0
    )
SELECT
    CASE WHEN p.peak_bytes > p.capacity_bytes THEN 'fault' ELSE 'warning' END,
    'shared device',
    p.host,
    p.device,
    'driver',
    coalesce(p.site, '(no stack)'),
    'shared',
    'exact',
    CAST(p.peak_bytes AS REAL) / p.capacity_bytes,
    CASE WHEN p.capacity_bytes > 0 THEN 'ratio' END,
    p.peak_bytes,
    p.rank_count,
    'device peak',
    p.seq,
    said(
        say('screen.shared', 'peak_bytes', p.peak_bytes),
        CASE WHEN p.capacity_bytes > 0 THEN say('screen.shared.capacity', 'capacity_bytes', p.capacity_bytes) END,
        say('screen.shared.ranks', 'n', p.rank_count),
        say('screen.shared.guests', 'n', p.guest_count)
    ),
    said(say('screen.shared.remedy')),
    'device_peak'
FROM place AS p
WHERE p.guest_bytes >= (SELECT least FROM minimum WHERE judgement = 'shared device') OR p.peak_bytes > p.capacity_bytes
ORDER BY p.peak_bytes > p.capacity_bytes DESC, p.peak_bytes DESC, p.host, p.device;
