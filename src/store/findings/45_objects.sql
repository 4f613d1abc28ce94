-- Objects of the runtime that become ever more.
-- Only if: SELECT EXISTS (SELECT 1 FROM z_object_leak)
INSERT INTO finding (
    severity, kind, host, rank, pid, device, site, verdict, basis, count, seq, stack_id, sentence, remedy, source_view
)
SELECT
    'warning',
    'object leak',
    o.host,
    o.rank,
    o.pid,
    o.device,
    coalesce(o.site, '(no stack)'),
    o.verdict,
    'exact',
    o.created_count,
    o.first_seq,
    o.stack_id,
    said(say(
        CASE o.object WHEN 'notify' THEN 'screen.objects.notify' WHEN 'context' THEN 'screen.objects.context' ELSE 'screen.objects' END,
        'n',
        o.created_count
    )),
    said(say('screen.objects.remedy', 'call', 'aclrtDestroy' || upper(substr(o.object, 1, 1)) || substr(o.object, 2))),
    'object_leak'
FROM object_leak AS o
WHERE o.verdict = 'leak'
ORDER BY o.created_count DESC, o.host, o.rank, o.pid, o.object, o.site;
