#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# report.sh BIN_FOLDER TEXT2TRACE TRACE.txt HOSTILE.txt SCRATCH ON|OFF: what npumem-report writes, as far as no browser is needed for it: the
# file alone holds everything and asks for nothing, names are data, and where it may be written. (tests/web looks at the page.) ON: it can
# be asked in SQL.
set -u
bin=$1 text2trace=$2 text=$3 hostile=$4 scratch=$5 has_sql=$6 failures=0
report=$bin/npumem-report
third_party=$(cd "${0%/*}/../../third_party" && pwd)

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# expect STATUS ARG... <<WANTED: the exit status and all that is printed.
expect() {
    local wanted=$1 got
    shift
    timeout 60 "$report" "$@" >out 2>&1
    got=$?
    [ $got = "$wanted" ] || fail "$*: ends with $got, not $wanted"
    diff - out >&2 || fail "$*: prints other lines (< wanted, > has)"
}

# parts PAGE: what answers SQL in it.
parts() {
    grep -o 'class="sql" data-head=.{"name":"[a-z_]*"' "$1" | sed 's/.*:"//; s/"$//' | sort | tr '\n' ' '
}

load() {
    "$text2trace" "$1.txt" "$1.zst" && "$bin/npumem-ingest" --quiet "${@:2}" "$1.zst" || fail "$1 cannot be loaded"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
cp "$text" run.txt
cp "$hostile" hostile.txt
: >none.txt
load run
load hostile
load none

expect 0 run.db </dev/null
[ "$(head -c 15 run.html)" = '<!DOCTYPE html>' ] && [ "$(tail -n 1 run.html)" = '</html>' ] || fail "run.html is not whole"
"$report" run.db -o - | cmp - run.html || fail "what goes to standard output is another page"
expect 1 run.db <<<'npumem-report: run.html: is already there (--force replaces it)'
expect 0 --force --quiet run.db </dev/null
expect 1 run.db -o . <<<'npumem-report: .: is a folder, not a file'
expect 1 run.zst -o new.html <<<'npumem-report: run.zst: not a database of npumem-ingest but a trace; first: npumem ingest run.zst'
expect 1 gone.db <<<'npumem-report: gone.db: cannot open: no such file'
expect 2 <<<'npumem-report: no database (--help says more)'
expect 2 run.db run.db <<<'npumem-report: run.db is given twice (--help says more)'
"$report" run.db --force -o run.db >out 2>&1 && fail "a page replaces its database"
cmp -s <(head -c 15 run.db) <(printf 'SQLite format 3') || fail "run.db is no database any more"
"$report" run.db -o - >/dev/full 2>out && fail "a full disk is none"
grep -q 'No space left on device' out || fail "a full disk: $(cat out)"
[ ! -e new.html ] || fail "something is left of a page that was not written"
expect 0 none.db </dev/null

# One of an older version lies in no file that answers SQL; all else of it is there.
for version in 6 7; do
    zstd -qdc "$third_party/../fixtures/databases/schema-$version.db.zst" >older.db || fail "there is no fixture of schema $version"
    expect 0 older.db --force </dev/null
    [ $has_sql = OFF ] || [ "$(parts older.html)" = 'left_out ' ] || fail "older.html answers SQL with $(parts older.html)"
done

# With what other settings would have done: the table of npumem-whatif, or a word why there is none.
"$report" --whatif run.db -o settings.html && grep -o '"name":"whatif","rows":[0-9]*' settings.html >out || fail "there is no page with other settings"
[ "$(cat out)" = "\"name\":\"whatif\",\"rows\":$("$bin/npumem-whatif" --compare run.db | sed '1,/^setting /d; /^recorded /d; /^simulated$/d; /^$/,$d' | wc -l)" ] || fail "other settings: $(cat out)"
"$bin/npumem-whatif" --compare run.db 2>lines >out; [ ! -s lines ] || fail "no terminal is told how far it is: $(cat lines)"
"$bin/npumem-whatif" --progress --compare run.db 2>lines >out; head -n 1 lines | grep -qE '^progress [0-9]+$' || fail "who shows it is not told how far it is: $(cat lines)"
! grep -q '"name":"whatif"' run.html || fail "other settings are there without being asked for"
cp run.txt sums.txt
load sums --detail none
expect 1 --whatif sums.db <<<'npumem-report: sums.db: npumem whatif has no answer: it says why'
expect 2 --whatif --force none.db <<<'npumem-report: none.db: has no pool, so that there is no --whatif'
expect 2 --whatif run.db none.db -o two.html <<<'npumem-report: --whatif is about one database (--help says more)'
[ ! -e sums.html ] && [ ! -e two.html ] || fail "a page is left that could not be had"

# The page of npumem-ingest is the same, and comes with its database or not at all.
"$bin/npumem-ingest" --quiet --force --report with.html -o with.db run.zst || fail "npumem-ingest writes no page"
"$report" with.db -o - | cmp - with.html || fail "npumem-ingest writes another page"
touch there.html
"$bin/npumem-ingest" --quiet --report there.html -o new.db run.zst 2>out && fail "npumem-ingest replaces a page"
grep -qx 'npumem-ingest: there.html: is already there (--force replaces it)' out || fail "$(cat out)"
[ ! -e new.db ] && [ ! -s there.html ] || fail "npumem-ingest wrote in spite of it"
rm run.html
"$bin/npumem-ingest" --quiet --report run.html run.db && [ -s run.html ] || fail "npumem-ingest writes no page of a database that is there"

# Nothing is asked for: no address but the names of SVG and of what stands in the data. Comments of the package that draws charts
# name addresses, too: of it just this is in the page, behind its licence.
expect 0 hostile.db </dev/null
uplot() {
    echo '/*'
    cat "$third_party/uplot/LICENSE"
    echo '*/'
    cat "$third_party/uplot/uPlot.iife.js"
}
"$report" --no-sql run.db -o without.html || fail "no page without SQL"
for page in run hostile without; do
    wasm=" 'wasm-unsafe-eval'"
    [ $page = without ] || [ $has_sql = OFF ] && wasm=''
    sed -n '/^<script id="uplot">$/,/^<\/script>$/p' $page.html | sed '1d;$d' | cmp - <(uplot) || fail "$page.html has another uPlot"
    sed '/^<script id="uplot">$/,/^<\/script>$/d; s|<script type="application/octet-stream".*||' $page.html >frame
    grep -oE '(src|href)="[^"]*"|url\([^)]*\)|https?://[^ "<)]*' frame | grep -vE '^href="(data:,|#main)"$|^http://www\.w3\.org/2000/svg' >&2 &&
        fail "$page.html names what it would fetch"
    grep -q "default-src 'none'; script-src 'unsafe-inline'$wasm; style-src 'unsafe-inline'; img-src data: blob:; worker-src blob:\"" frame ||
        fail "$page.html forbids nothing"
done

# Of the elements of a page none comes of a name: with hostile names there are as many as without.
count_tags() {
    sed -n '/<\/style>/,$p' "$1" | sed '/^<script type="module">$/,/^<\/script>$/d' | grep -oE '<[/a-zA-Z!][a-zA-Z]*' | sort | uniq -c
}
count_tags run.html >run.tags
count_tags hostile.html >hostile.tags
sed -i '/<script$/d; /<\/script$/d' run.tags hostile.tags # a block for each heap
diff run.tags hostile.tags >&2 || fail "a name became markup"
grep -q '&lt;' hostile.html || fail "the hostile names are not in the summary"
awk '/<script type="application.octet-stream"/ && !/^<script type="application\/octet-stream" class="[a-z]+" data-head=.\{[][A-Za-z0-9_":,.{}-]*\}.>[A-Za-z0-9+\/]*=?=?<\/script>$/ { bad = 1; print substr($0, 1, 300) } END { exit bad }' hostile.html >&2 ||
    fail "a block holds more than base64"

# However many events there are, the picture has the same size: the same run, sixteen times as long.
{
    sed '/^@180/d; /^@170/d; /^@160/d; /^@150/d; /^@140/d; /^@130/d' run.txt
    for ((i = 0; i < 20000; i++)); do
        echo "@$((200 + 20 * i)) alloc heap=2 address=0x11000 requested=500 block=512 thread=2 stack=2"
        echo "@$((210 + 20 * i)) free heap=2 address=0x11000 thread=1"
    done
} >long.txt
load long
expect 0 long.db </dev/null
"$report" --max-size 1MiB long.db -o small.html || fail "no smaller page"
"$report" --max-size 1KiB long.db -o none.html >out 2>&1 && fail "no page is that small"
[ "$(wc -c <small.html)" -le 1048576 ] || fail "a page of at most 1 MiB has $(wc -c <small.html) bytes"
cells() {
    grep -o 'class="cells" data-head=.*' "$1" | grep -m 1 -o '"width":[0-9]*,"height":[0-9]*'
}
[ -n "$(cells run.html)" ] && [ "$(cells run.html)" = "$(cells long.html)" ] || fail "the map's size depends on the run: $(cells run.html) $(cells long.html)"
"$report" --no-sql --force long.db -o long.bare.html || fail "no page without SQL of a long run"
[ "$(wc -c <long.bare.html)" -lt 700000 ] || fail "20,000 allocations take $(wc -c <long.bare.html) bytes without SQL"
[ "$(wc -c <long.html)" -lt 1270000 ] || fail "20,000 allocations take $(wc -c <long.html) bytes"

# What answers SQL is in the page as far as half of it has the room, and its copy of the database is nowhere any more.
[ $has_sql = OFF ] || [ "$(parts run.html)" = 'database engine queries wasm ' ] || fail "run.html answers SQL with $(parts run.html)"
[ $has_sql = OFF ] || [ "$(parts small.html)" = 'left_out ' ] || fail "a page of 1 MiB has $(parts small.html)"
[ "$(parts without.html)" = '' ] || fail "--no-sql: $(parts without.html)"
mkdir tmp
TMPDIR=$PWD/tmp "$report" run.db -o - >out.html || fail "no page on standard output"
[ -z "$(ls -A tmp)" ] || fail "left in the temporary folder: $(ls -A tmp)"
[ -z "$(ls -- *.html.* 2>/dev/null)" ] || fail "left: $(ls -- *.html.*)"
[ $failures = 0 ] || exit 1
