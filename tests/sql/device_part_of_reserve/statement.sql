SELECT moment, seq, heap, part, bytes / 1048576 AS mib FROM device_part WHERE component = 'POOL'
    AND moment_heap IS NOT 'memory'
UNION ALL
SELECT moment, seq, 'holds ' || (hostage_bytes / 1048576), site, block_bytes / 1048576 FROM fragmentation_blocker
UNION ALL
SELECT CASE WHEN m.kind = 3 THEN m.name ELSE k.name END, m.seq, 'range of ' || (g.class_bytes / 1048576), c.name, g.free_bytes / 1048576
    FROM z_gap AS g JOIN z_pool_part AS q ON q.part_id = g.part_id JOIN moment AS m ON m.moment_id = g.moment_id
    JOIN z_moment_kind AS k ON k.kind = m.kind LEFT JOIN z_segment_kind AS c ON c.segment_kind = q.segment_kind;
