#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# snapshot_fragments.sh SCRIPT INGEST WORK_DIR: the script beside it, for each of the sample snapshots.
set -eu
script=$1 ingest=$2 work=$3
samples=${NPUMEM_SAMPLES_DIR:-}/torch_npu

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
[ -f "$samples/snapshot_no_leak.pkl" ] || { echo "skipped: no samples here" && exit 77; }
mkdir -p "$work"
for file in "$samples"/snapshot_*.pkl; do
    echo "$(basename "$file")"
    python3 "$script" "$ingest" "$file" "$work"
done
