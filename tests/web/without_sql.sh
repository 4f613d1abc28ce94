#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# without_sql.sh CMAKE SOURCE_DIR REPORT INGEST TEXT2TRACE TRACE.txt SCRATCH: for who may not ship a prebuilt wasm. -DNPUMEM_REPORT_SQL=OFF
# builds without one: the list of files that a build takes in is read where cmake has written it. And REPORT, which has been linked with
# that empty list, writes a page that works, has nothing of SQL, and allows no wasm.
set -u
cmake=$1 source=$2 report=$3 ingest=$4 text2trace=$5 text=$6 scratch=$7

die() {
    echo "$*" >&2
    exit 1
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
for value in ON OFF; do
    "$cmake" -S "$source" -B "build_$value" -G "Unix Makefiles" -DNPUMEM_BUILD_TESTS=OFF -DNPUMEM_REPORT_SQL=$value >log 2>&1 || die "cannot be configured with $value: $(cat log)"
done
grep -rq 'sqljs/sql-wasm.wasm' build_ON/src/page || die "what is built in is not to be read"
grep -rq 'sqljs' build_OFF/src && die "the prebuilt wasm is built in all the same"
"$text2trace" "$text" run.zst && "$ingest" --quiet run.zst || die "no database"
"$report" run.db || die "no page"
[ "$(tail -n 1 run.html)" = '</html>' ] && grep -q 'class="strings"' run.html || die "the page is not whole"
grep -qE 'class="sql"|wasm-unsafe-eval|"sql_' run.html && die "something of SQL is in the page"
"$report" --no-sql run.db -o same.html && cmp run.html same.html || die "--no-sql writes another page"
[ "$(echo *.db*)" = run.db ] || die "left: $(echo *.db*)"
strings -a "$report" | grep -q 'initSqlJs = function' && die "the script of sql.js is in the program"
rm -rf build_ON build_OFF
