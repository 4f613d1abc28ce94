/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_blocks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_BLOCKS_SQL_H
#define NM_EXPORT_SNAPSHOT_BLOCKS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_BLOCKS_SQL \
    "WITH used (device_id, process_id, ordinal) AS ( SELECT device_id, process_id, ordinal FROM device WHERE " \
    "EXISTS (SELECT 1 FROM heap WHERE heap.device_id = device.device_id AND heap.level IN (1, 2, 3)) ), dev " \
    "(device_id, process_id, number) AS ( SELECT device_id, process_id, CASE WHEN ( SELECT count(DISTINCT " \
    "process_id) = 1 AND count(*) = count(DISTINCT ordinal) AND min(ordinal) >= 0 AND max(ordinal) < 4096 FROM " \
    "used ) THEN ordinal ELSE row_number() OVER (ORDER BY device_id) - 1 END FROM used ), own (heap_id, number, " \
    "level, start_ns) AS ( SELECT h.heap_id, dev.number, h.level, coalesce(i.start_realtime_ns, 0) FROM heap AS h " \
    "JOIN dev ON dev.device_id = h.device_id JOIN process AS p ON p.process_id = h.process_id JOIN input AS i ON " \
    "i.input_id = p.input_id WHERE h.level IN (2, 3) OR (h.level = 1 AND i.fragmentation_basis IN ('exact', " \
    "'estimate')) ) , carried (id, stream, seq) AS ( SELECT segment_id, stream, min(alloc_seq) FROM allocation " \
    "WHERE segment_id IS NOT NULL AND stream IS NOT NULL GROUP BY segment_id ) SELECT device, address, size_bytes, " \
    "requested_bytes, is_pending, stream, pool_id, stack_id, is_mapped, is_rounded FROM ( SELECT own.number AS " \
    "device, a.address AS address, CASE WHEN :is_block THEN coalesce( a.block_bytes, (coalesce(a.requested_bytes, " \
    "a.size_bytes) + :padding_bytes + :round_bytes - 1) / :round_bytes * :round_bytes ) ELSE a.size_bytes END AS " \
    "size_bytes, CASE WHEN :is_block THEN coalesce(a.requested_bytes, a.size_bytes) ELSE 0 END AS requested_bytes, " \
    ":is_block AND a.free_requested_seq IS NOT NULL AS is_pending, coalesce( a.stream, CASE WHEN a.is_mapped = 0 " \
    "THEN ( SELECT c.stream FROM carried AS c WHERE c.id = CASE WHEN own.level = 1 THEN a.allocation_id ELSE " \
    "a.segment_id END ) END, 0 ) AS stream, coalesce(a.private_pool, 0) AS pool_id, a.stack_id AS stack_id, NOT " \
    ":is_block AND a.is_mapped AS is_mapped, :is_block AND a.block_bytes IS NULL AS is_rounded, a.allocation_id AS " \
    "place FROM allocation AS a CROSS JOIN own ON own.heap_id = a.heap_id WHERE a.end_kind = 0 AND a.size_bytes > " \
    "0 AND CASE WHEN NOT :is_block THEN own.level = 1 WHEN own.level IN (2, 3) THEN 1 ELSE own.level = 1 AND " \
    "a.is_segment = 0 AND a.allocation_id NOT IN ( SELECT w.segment_id FROM allocation AS w WHERE w.segment_id IS " \
    "NOT NULL AND w.heap_id IN (SELECT heap_id FROM own WHERE level = 3) ) END UNION ALL SELECT number, " \
    "min(address), max(behind) - min(address), 0, 0, 0, 0, NULL, 0, 0, min(allocation_id) FROM ( SELECT number, " \
    "address, behind, allocation_id, sum(is_first) OVER (PARTITION BY number ORDER BY address < 0, address, " \
    "allocation_id) AS part FROM ( SELECT own.number AS number, a.address AS address, a.address + a.size_bytes AS " \
    "behind, a.allocation_id AS allocation_id, a.address > coalesce( max(a.address + a.size_bytes) OVER ( " \
    "PARTITION BY own.number ORDER BY a.address < 0, a.address, a.allocation_id ROWS BETWEEN UNBOUNDED PRECEDING " \
    "AND 1 PRECEDING ), -1 ) AS is_first FROM allocation AS a CROSS JOIN own ON own.heap_id = a.heap_id WHERE NOT " \
    ":is_block AND a.size_bytes > 0 AND own.level IN (2, 3) AND NOT EXISTS (SELECT 1 FROM own AS d WHERE d.number " \
    "= own.number AND d.level = 1) ) ) GROUP BY number, part ) ORDER BY device, address < 0, address, place;"
#define NM_SNAPSHOT_BLOCKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) INTEGER(address) INTEGER(size_bytes) \
    INTEGER(requested_bytes) FLAG(is_pending) INTEGER(stream) INTEGER(pool_id) INTEGER(stack_id) FLAG(is_mapped) \
    FLAG(is_rounded)
#define NM_SNAPSHOT_BLOCKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_block) INTEGER(padding_bytes) \
    INTEGER(round_bytes)
NM_QUESTION(snapshot_blocks, NM_SNAPSHOT_BLOCKS_SQL, NM_SNAPSHOT_BLOCKS_COLUMNS, NM_SNAPSHOT_BLOCKS_PARAMETERS)

#endif
