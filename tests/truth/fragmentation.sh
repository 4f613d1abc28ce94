#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fragmentation.sh SCRIPT INGEST WORK_DIR: the script beside it.
set -eu
script=$1 ingest=$2 work=$3

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$script" "$ingest" "$work" --samples "${NPUMEM_SAMPLES_DIR:-}"
