#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fragmentation.sh SCRIPT PROGRAM WORK_DIR: a script beside it that makes its own snapshots.
set -eu
script=$1 program=$2 work=$3

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$script" "$program" "$work" --samples "${NPUMEM_SAMPLES_DIR:-}"
