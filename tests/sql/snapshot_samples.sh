#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# snapshot_samples.sh SCRIPT INGEST WORK_DIR [FOLDER...]: a script beside it on what it writes itself, and where there are samples, for
# those in torch, torch_npu and these folders, too.
set -eu
script=$1 ingest=$2 work=$3
shift 3

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
mkdir -p "$work"
shopt -s nullglob
files=()
for folder in torch torch_npu "$@"; do
    files+=("${NPUMEM_SAMPLES_DIR:-/nowhere}/$folder"/*.p*k*l*)
done
python3 "$script" "$ingest" "$work" "${files[@]}"
