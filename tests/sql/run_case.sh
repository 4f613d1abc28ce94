#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_case.sh TEXT2TRACE INGEST SOURCE_DIR CASE WORK_DIR: tests the view or query CASE. tests/sql/CASE/ holds
#   trace.txt               a text trace (tests/support/text_trace.h), or `trace`: the name of the case whose trace it is
#   expected.csv            the answer, worked out by hand
#   expected_parameters.csv the answer with the shell's commands in `parameters` before the query
#   expected_view.csv       the answer of the view that has the name of a query
#   statement.sql           what is asked of a view instead of all its rows and columns
#   base.txt                a second text trace, loaded into base.db beside the first
#   working.txt             how that was worked out, where it is not obvious and the trace is another case's
#   depth                   how many frames of a stack were asked for, where that matters (text2trace)
#   also.txt                a second text trace, loaded into the same database as the first
# The answer is read with the stock sqlite3 shell. Rows of a view are compared in any order, those of a query in theirs.
set -eu
text2trace=$1 ingest=$2 source=$3 case=$4 work=$5
folder=$source/tests/sql/$case

command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work"

# load TEXT NAME: NAME.db from a text trace.
load() {
    local depth=()
    [ ! -f "$folder/depth" ] || depth=(1000 "$(cat "$folder/depth")")
    "$text2trace" "$1" "$2.zst" "${depth[@]}" && "$ingest" --quiet "$2.zst"
}

# compare ANSWER EXPECTED [sort]
compare() {
    tr -d '\r' <"$1" >actual
    cp "$folder/$2" expected
    if [ "${3:-}" = sort ]; then
        for file in actual expected; do { head -n 1 $file && tail -n +2 $file | LC_ALL=C sort; } >$file.sorted; done
        mv actual.sorted actual && mv expected.sorted expected
    fi
    diff -u expected actual || { echo "$case: $2 differs" >&2 && exit 1; }
}

text=$folder/trace.txt
[ -f "$text" ] || text=$source/tests/sql/$(cat "$folder/trace")/trace.txt
if [ -f "$folder/also.txt" ]; then
    "$text2trace" "$text" trace.zst && "$text2trace" "$folder/also.txt" also.zst
    "$ingest" --quiet -o trace.db trace.zst also.zst
else
    load "$text" trace
fi
[ ! -f "$folder/base.txt" ] || load "$folder/base.txt" base

# An internal view has the name of its case behind z_.
view=$(sqlite3 trace.db "SELECT name FROM sqlite_master WHERE type = 'view' AND name IN ('$case', 'z_$case')")
[ -f "$folder/statement.sql" ] && statement=$(cat "$folder/statement.sql") || statement="SELECT * FROM $view"
query=$source/queries/$case.sql
if [ -f "$query" ]; then
    sqlite3 -csv -header trace.db <"$query" >answer.csv
    compare answer.csv expected.csv
    if [ -f "$folder/parameters" ]; then
        cat "$folder/parameters" "$query" | sqlite3 -csv -header trace.db >answer.csv
        compare answer.csv expected_parameters.csv
    fi
    if [ -f "$folder/expected_view.csv" ]; then
        sqlite3 -csv -header trace.db "$statement" >answer.csv
        compare answer.csv expected_view.csv sort
    fi
else
    sqlite3 -csv -header trace.db "$statement" >answer.csv
    compare answer.csv expected.csv sort
fi
