#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# npumem_start and npumem_stop: sdk_start.c records itself twice; both traces must be whole and hold what it said.
#
#     sdk_start.sh FOLDER_OF_THE_PROGRAMS SDK_START FOLDER
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
