#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# questions.sh RECORD INGEST PROGRAM SOURCE_DIR WORK_DIR: each line of docs/questions.md, and what docs/troubleshooting.md has
# like it, runs in the stock sqlite3 shell on a recording of PROGRAM and has rows there; on each real snapshot in NPUMEM_SAMPLES_DIR it runs, with rows or without. Lines
# about what the recording has none of (no allocation failed, no ranks, no models, no objects, no wrapper) have none.
set -u
record=$1 ingest=$2 program=$3 source=$4 work=$5
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
ln -s "$source/queries" queries
"$record" -o run.zst -- "$program" --steps 60 --leak --fragment >/dev/null 2>&1 && "$ingest" --quiet run.zst || exit 1
sed -nE 's/^\| [^|]* \| `(sqlite3 .*)` \|$/\1/p' "$source/docs/questions.md" >lines
grep -oE "\`sqlite3 run.db '[^\`]*'\`" "$source/docs/troubleshooting.md" | tr -d '`' >>lines
status=0
[ "$(wc -l <lines)" -ge 30 ] || { echo "there are less than 30 lines" && status=1; }

while read -r line; do
    bash -c "$line" >answer 2>&1 || { echo "$line: fails" && cat answer && status=1; }
    ! grep -qi '^error\|^"error\|Parse error\|Runtime error' answer || { echo "$line" && head -n 3 answer && status=1; }
    case $line in *why_out_of_memory* | *rank_share* | *model_memory* | *object_count* | *wrapper.sql*) continue ;; esac
    [ -s answer ] || { echo "$line: no rows" && status=1; }
done <lines

for sample in $(find "${NPUMEM_SAMPLES_DIR:-/nowhere}" -name '*.pickle' -size -2000k 2>/dev/null | sort | head -n 4); do
    "$ingest" --quiet --force -o run.db "$sample" >/dev/null 2>&1
    while read -r line; do
        # Marks are the sample program's own.
        bash -c "$(sed -E 's/:(from|at|to) (warm|fragmented)/:\1 end/g' <<<"$line")" >answer 2>&1
        ! grep -qi '^error: no moment\|Parse error\|Runtime error' answer || { echo "$sample: $line" && head -n 3 answer && status=1; }
    done <lines
done
exit $status
