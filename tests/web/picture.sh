#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# picture.sh NODE BIN_FOLDER PROGRAM_FOLDER SCRATCH OUT.png: records the sample run of README, and takes a picture of its page.
set -eu
node=$1 bin=$2 programs=$3 scratch=$4 out=$5 here=$(cd "${0%/*}" && pwd)
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
PATH=$programs:$PATH
"$bin/npumem-record" -o run.zst -- npu_train --steps 200 --leak --fragment >train.log
"$bin/npumem-ingest" --quiet --report run.html run.zst
NPUMEM_BROWSER=$(command -v chromium-headless-shell chromium chromium-browser | head -n 1) NPUMEM_NODE_MODULES=$here/../../build/node/node_modules \
    exec "$node" "$here/picture.mjs" "$scratch/run.html" "$out"
