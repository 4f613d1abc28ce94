SELECT 'error: no moment ''' || q.moment || ''': nanoseconds, seq:N, or a name in view z_named_moment'
FROM asked AS q
WHERE NOT EXISTS (SELECT 1 FROM point AS p WHERE p.place = q.place AND coalesce(p.seq, p.ns) IS NOT NULL)
UNION ALL
-- begin no_parameter $1; $2
