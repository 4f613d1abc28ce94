#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# snapshot_samples.sh SCRIPT INGEST WORK_DIR: a script beside it on what it writes itself, and where there are samples, for these too.
set -eu
script=$1 ingest=$2 work=$3

command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
mkdir -p "$work"
shopt -s nullglob
python3 "$script" "$ingest" "$work" "${NPUMEM_SAMPLES_DIR:-/nowhere}"/torch{,_npu}/*.p*k*l*
