#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# scenes.sh SCRIPT INGEST WHATIF RECORD PROGRAMS CANN WORK_DIR: the script beside it.
set -eu
script=$1 ingest=$2 whatif=$3 record=$4 programs=$5 cann=$6 work=$7

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$script" "$ingest" "$whatif" "$record" --programs "$programs" --cann "$cann" --work "$work"
