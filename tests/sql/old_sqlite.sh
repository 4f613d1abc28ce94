#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# old_sqlite.sh TEXT2TRACE INGEST SOURCE_DIR WORK_DIR: every view and every query runs in SQLite 3.28, and gives there what
# the case of the same name expects. The old SQLite is npm's sql.js 1.0.1 under Node, fetched once into WORK_DIR.
set -u
text2trace=$1 ingest=$2 source=$3 work=$4
skip() {
    echo "skipped: $*" && exit 77
}

command -v node >/dev/null && command -v npm >/dev/null || skip "no node or npm here"
mkdir -p "$work" && cd "$work" || exit 1
if [ ! -f package/dist/sql-asm.js ]; then
    timeout 120 npm pack --silent sql.js@1.0.1 >/dev/null 2>&1 && tar xzf sql.js-1.0.1.tgz || skip "sql.js cannot be fetched"
fi

for trace in "$source"/tests/sql/*/trace.txt "$source"/tests/sql/*/base.txt; do
    name=$(basename "$(dirname "$trace")").$(basename "$trace" .txt) also=$(dirname "$trace")/also.txt files=trace.zst
    depth=$(cat "$(dirname "$trace")/depth" 2>/dev/null)
    # shellcheck disable=SC2086 -- two words or none
    mkdir -p "$name" && cd "$name" && "$text2trace" "$trace" trace.zst ${depth:+1000 $depth} || exit 1
    [ ! -f "$also" ] || { "$text2trace" "$also" also.zst && files="trace.zst also.zst"; } || exit 1
    # shellcheck disable=SC2086 -- the names have no spaces
    "$ingest" --quiet --force -o trace.db $files && cd .. || exit 1
done
exec node "$source/tests/sql/old_sqlite.js" "$work" "$source"
