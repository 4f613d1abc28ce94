#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# windows.sh SCRIPT INGEST WORK_DIR: the script beside it, with floors; nightly in both styles, of three seeds.
set -eu
script=$1 ingest=$2 work=$3
seeds=(--seeds 3)
[ -n "${NPUMEM_NIGHTLY:-}" ] || seeds+=(--in-turn)

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$script" "$ingest" "$work" "${seeds[@]}" --jobs 2 --floors
