-- source_bases.sql: kinds of input of which one basis is not exact.
SELECT
    kind,
    leak_basis,
    peak_basis,
    fragmentation_basis,
    hit_basis,
    device_basis,
    failure_basis,
    misuse_basis
FROM input
WHERE leak_basis || peak_basis || fragmentation_basis || hit_basis || device_basis || failure_basis || misuse_basis <> 'exactexactexactexactexactexactexact'
GROUP BY kind, leak_basis, peak_basis, fragmentation_basis, hit_basis, device_basis, failure_basis, misuse_basis
ORDER BY min(input_id);
