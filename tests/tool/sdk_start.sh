#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# npumem_start and npumem_stop: sdk_start.c records itself twice; both traces must be whole and hold what it said.
#
#     sdk_start.sh FOLDER_OF_THE_PROGRAMS SDK_START FOLDER SDK_LATE
set -eu
bin=$1 program=$2 folder=$3

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

"$program" one.zst two.zst
for name in one two; do
    "$bin/npumem-ingest" --quiet -o $name.db $name.zst
    got=$(sqlite3 $name.db 'SELECT count(*), sum(size_bytes), count(DISTINCT h.process_id)
                            FROM allocation AS a JOIN heap AS h ON h.heap_id = a.heap_id
                            UNION ALL SELECT events_dropped, is_complete, 0 FROM input')
    [ "$got" = $'1001|64064|2\n0|1|0' ] || { echo "FAIL: $name holds $got" >&2; exit 1; }
done

# Under npumem-record the program's own start joins what is recorded already, and stop leaves it going.
"$bin/npumem-record" -o around.zst -- "$program" three.zst four.zst && status=0 || status=$?
[ "$status" = 1 ] || { echo "FAIL: under npumem-record it ended with $status" >&2; exit 1; }
[ ! -e three.zst ] || { echo "FAIL: a second recording began under npumem-record" >&2; exit 1; }

# Switched off, and without npumem-record: the program is told so and goes on.
NPUMEM=off "$program" five.zst six.zst >out.txt && exit 1
grep -qx 'recording 1 failed at 1' out.txt
[ ! -e five.zst ]

# Recorded late, and with a pause: what was there before is not known and its free no misuse; of the pause stays what it led to.
NPUMEM=paused "$4" late.zst
"$bin/npumem-ingest" --quiet -o late.db late.zst
got=$(sqlite3 late.db "SELECT baseline, unseen_origin_count, (SELECT count(*) FROM anomaly), verdict FROM completeness;
                       SELECT address, size_bytes, free_seq IS NOT NULL FROM allocation ORDER BY address;
                       SELECT name FROM moment WHERE kind = 3 ORDER BY seq;
                       SELECT count(*), sum(is_end_known) FROM z_pause; SELECT count(*) FROM copy")
want=$'unknown|1|0|begun\n5120|100|0\n5632|200|1\n6144|300|1\nhalfway\nheard\n1|1\n0'
[ "$got" = "$want" ] || { echo "FAIL: late.zst holds $got" >&2; exit 1; }
