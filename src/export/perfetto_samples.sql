-- perfetto_samples.sql: what the runtime said of devices and of memory, track after track.
SELECT
    s.process_id AS process_id,
    coalesce(s.device_id, 0) AS device_id,
    s.kind AS kind_code,
    coalesce('device ' || coalesce(d.physical_ordinal, d.ordinal) || ' ', '') || coalesce(k.name, 'memory')
        || ' used' AS name,
    max(coalesce(s.ns, s.seq * 1000, 0), 0) AS ns,
    s.used_bytes AS used_bytes
FROM memory_sample AS s
LEFT JOIN device AS d ON d.device_id = s.device_id
LEFT JOIN z_memory_kind AS k ON k.kind = s.kind
ORDER BY 1, 2, 3, s.seq, s.ns;
