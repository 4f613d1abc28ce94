#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# csv.sh INGEST TEXT2TRACE SQL_TESTS SCRATCH: the CSV files of npumem-ingest, the usual ones and all of them, against the
# database beside them: of traces with answers, of one without, with less detail, redacted, and with names that mean harm.
set -u
ingest=$1 text2trace=$2 sql=$3 scratch=$4
here=$(dirname "$(realpath "$0")")
failures=0

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# load NAME [OPTION...]: NAME.txt as NAME.db and in the folder NAME; what is printed in NAME.out
load() {
    local name=$1
    shift
    "$text2trace" "$name.txt" "$name.zst" || fail "$name.txt"
    "$ingest" --force -o "$name.db" --csv "$name" "$@" "$name.zst" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
}

# same NAME [all]
same() {
    python3 "$here/csv_files.py" "$1.db" "$@" >differs || fail "$(cat differs)"
}

rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
command -v python3 >/dev/null && python3 -c 'import sqlite3' 2>/dev/null || { echo "skipped: no python3 with sqlite3 here" && exit 77; }

for view in suspect_by_site peak_by_site fragmentation_verdict misuse; do
    cp "$sql/$view/trace.txt" "$view.txt"
    load $view
    same $view
done
cp suspect_by_site.txt all.txt
load all --csv-all --csv-bom
same all all
head -c 3 all/leak.csv | od -An -tx1 | grep -q 'ef bb bf' || fail "no byte order mark"

# Nothing at all: a header is there, and alone where a view has no row.
echo 'process 1 pid=1 host=h' >empty.txt
load empty --csv-all
same empty all
[ "$(wc -l <empty/leak.csv)" = 1 ] || fail "rows of an empty leak.csv"

# Without rows of single allocations: the header alone, which is said.
cp suspect_by_site.txt none.txt
load none --detail none
same none
[ "$(wc -l <none/outstanding.csv)" = 1 ] || fail "rows of outstanding.csv without single allocations"
grep -q '^CSV  *a header alone in outstanding, leak .*--detail none' none.out || fail "$(cat none.out)"
grep -q '^CSV' suspect_by_site.out && fail "said without need"
cp suspect_by_site.txt live.txt
load live --detail live
same live
cmp live/outstanding.csv suspect_by_site/outstanding.csv || fail "outstanding.csv with --detail live"

# Names that a spreadsheet or a terminal would obey, and a stack that is longer than a cell should be.
long=$(printf 'a_function_of_some_length_%.0s' $(seq 12))
frames=$(seq -f "/src/deep.py:%.0f:$long" -s ' < ' 1 48)
cat >hostile.txt <<END
process 1 pid=1 host="=1+1" begin=0 command="@SUM(1+1)|cmd"
device 1 process=1 ordinal=0 kind=npu
heap 1 process=1 device=1 level=pool basis=block name="+a,\"b\"\nc"
thread 1 process=1 tid=1 name="-2\x1b[31m"
stack 1: =HYPERLINK("x","y").py:1:take < -outer.py:2:main
stack 2: @SUM(A1,A2).py:3:give < /src/b.py:4:main
stack 3: $frames
@1 alloc heap=1 address=0x1000 block=4096 thread=1 stack=1
@2 alloc heap=1 address=0x3000 block=512 thread=1 stack=2
@3 alloc heap=1 address=0x5000 block=256 thread=1 stack=3
@4 mark thread=1 name="	=2+2"
END
load hostile --csv-all
same hostile all
grep -q "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\").py:1 take < -outer.py:2 main\"" hostile/outstanding.csv || fail "a stack is a formula"
grep -q "\"'@SUM(A1,A2).py:3 give\"" hostile/peak_by_site.csv || fail "a site is a formula"
grep -aqE '"[=+@-][^"]' hostile/*.csv && fail "formulas: $(grep -aE '"[=+@-][^"]' hostile/*.csv | head -n 3)"
grep -q 'deep.py:1 .* < deep.py:2 .* < \.\.\."' hostile/outstanding.csv || fail "a long stack is not cut"

# What is redacted in the database is in the files.
cp suspect_by_site.txt redacted.txt
load redacted --redact --csv-all
same redacted all
grep -qE 'data\.py|cache\.py' redacted/*.csv && fail "a name of a file"
grep -q 'file-[0-9]*\.py:[0-9]* .* < file-[0-9]*\.py' redacted/outstanding.csv || fail "no stack: $(head -n 2 redacted/outstanding.csv)"

"$ingest" --csv-all all.zst 2>error
[ $? = 2 ] && grep -q -e '--csv-all needs --csv' error || fail "--csv-all without --csv: $(cat error)"
exit "$((failures > 0))"
