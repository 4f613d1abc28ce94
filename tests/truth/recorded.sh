#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# recorded.sh SCRIPT RECORD INGEST CHECK PROGRAMS WORK_DIR: the script beside it, with floors.
set -eu

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$@" --floors
