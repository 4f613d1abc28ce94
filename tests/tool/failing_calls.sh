#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One of the first allocations of a program finds no memory: the program fails, in one line, and never says that it was used
# wrongly. A folder that cannot be synced: the database stands, and is said to.
#
#     failing_calls.sh SHIM INGEST CHECK DIFF WHATIF RECORD TEXT2TRACE TRACE.txt WORK
set -u
shim=$1 ingest=$2 check=$3 diff=$4 whatif=$5 record=$6 text2trace=$7 text=$8 work=$9
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
"$text2trace" "$text" run.zst && "$ingest" --quiet run.zst || exit 1
mkdir empty

# try STATUS COUNT COMMAND...: each of the first COUNT allocations in turn; STATUS with one line, or as if nothing were.
try() {
    status=$1 count=$2
    shift 2
    for at in $(seq "$count"); do
        rm -f out.db
        NO_MEMORY_AT=$at LD_PRELOAD=$shim "$@" >out 2>err
        got=$?
        [ $got = 0 ] && continue
        if [ $got != "$status" ] || [ "$(wc -l <err)" != 1 ] || [ -e out.db ]; then
            echo "allocation $at of $*: status $got: $(cat err)"
            exit 1
        fi
    done
}

try 1 40 "$ingest" -o out.db run.zst
try 1 2 "$ingest" -o out.db --symbols empty run.zst
try 1 40 "$ingest" -o out.db run.zst run.db
try 4 20 "$check" run.db --baseline run.db --allow-partial
try 4 20 "$diff" run.db run.db
try 4 5 "$whatif" --conf max_split_size_mb:64 run.db
try 1 1 "$record" --buffer 1M -o other.zst -- true

NO_FOLDER_SYNC=1 LD_PRELOAD=$shim "$ingest" --quiet -o out.db --csv csv run.zst >out 2>err
got=$?
line='is in its place, but a crash of the machine may undo that: its folder: cannot sync: Input/output error'
printf 'npumem-ingest: %s\n' "out.db: $line" "csv: $line" >expected
if [ $got != 3 ] || ! cmp expected err || [ "$(sqlite3 out.db 'SELECT is_complete FROM input')" != 1 ] || ! [ -s csv/leak.csv ]; then
    echo "folder that cannot be synced: status $got"
    exit 1
fi
