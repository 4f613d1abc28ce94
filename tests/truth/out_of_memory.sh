#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# out_of_memory.sh SCRIPT INGEST RECORD PROGRAMS CANN WORK_DIR: the script beside it, with floors.
set -eu
script=$1 ingest=$2 record=$3 programs=$4 cann=$5 work=$6
seeds=1
[ -z "${NPUMEM_NIGHTLY:-}" ] || seeds=2

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$script" "$ingest" "$work" --record "$record" --programs "$programs" --cann "$cann" \
    --seeds "$seeds" --floors
