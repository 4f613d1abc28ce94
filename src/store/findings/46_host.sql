-- Host memory of a process that still grows, as view host_growth judges it.
-- Only if: SELECT EXISTS (SELECT 1 FROM memory_sample WHERE kind = 101 AND device_id IS NULL)
INSERT INTO finding (
    severity, kind, host, rank, pid, verdict, basis, value, unit, bytes, sentence, remedy, source_view
)
SELECT
    'warning',
    'host growth',
    g.host,
    g.rank,
    g.pid,
    g.verdict,
    'estimate',
    g.growth_bytes_per_hour,
    'bytes an hour',
    g.growth_bytes,
    said(
        say('screen.host', 'rise_bytes', g.growth_bytes, 'window_ns', g.window_ns, 'end_bytes', g.end_bytes),
        CASE g.headroom_of
            WHEN 'cgroup' THEN say('screen.host.cgroup', 'left_bytes', g.headroom_bytes)
            ELSE say('screen.host.machine', 'left_bytes', g.headroom_bytes)
        END
    ),
    said(say('screen.host.remedy')),
    'host_growth'
FROM host_growth AS g
WHERE g.verdict = 'growing'
ORDER BY g.growth_bytes DESC, g.host, g.rank, g.pid;
