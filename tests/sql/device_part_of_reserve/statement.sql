SELECT moment, seq, heap, part, bytes / 1048576 AS mib FROM device_part WHERE component = 'POOL'
    AND moment_heap IS NOT 'memory'
UNION ALL
SELECT moment, seq, 'holds ' || (hostage_bytes / 1048576), site, block_bytes / 1048576 FROM fragmentation_blocker
UNION ALL
SELECT moment, seq, 'range of ' || (class_bytes / 1048576), segment_kind, free_bytes / 1048576 FROM z_free_range;
