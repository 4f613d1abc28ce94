#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# hash.sh NODE BIN_FOLDER TEXT2TRACE SCRATCH SECONDS: hash.mjs on pages of a run that ran out of memory, of several ranks, and of names that are
# to do harm.
set -euo pipefail
here=$(cd "${0%/*}" && pwd)
node=$1 bin=$2 text2trace=$3 scratch=$4 seconds=$5

rm -rf "$scratch"
mkdir -p "$scratch"
cp "$here/../web/hostile.txt" "$scratch/hostile.txt"
for name in out_of_memory finding_ranks; do
    cp "$here/../sql/$name/trace.txt" "$scratch/$name.txt"
done
cd "$scratch"
for text in *.txt; do
    name=${text%.txt}
    "$text2trace" "$text" "$name.zst"
    "$bin/npumem-ingest" --quiet "$name.zst"
    "$bin/npumem-report" --no-sql "$name.db"
done
exec "$node" "$here/hash.mjs" "$seconds" "$here/corpus/hash" ./*.html
