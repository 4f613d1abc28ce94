#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bundle.sh BIN_FOLDER TEXT2TRACE SQL_FOLDER OLD_DATABASES SCRATCH: what npumem-bundle writes is opened with tar, zstd and sqlite3:
# every view says there what it says in the database, the rows are those of --detail live, the same database gives the same
# bytes, nothing comes along but rows, and what cannot be used is refused in one line.
set -u
bin=$1 text2trace=$2 sql=$3 old=$4 scratch=$5 failures=0
ingest=$bin/npumem-ingest bundle=$bin/npumem-bundle
export LC_ALL=C

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# expect STATUS MESSAGE ARG...: one line on standard error that has MESSAGE, or with an empty one none.
expect() {
    local wanted=$1 message=$2 got
    shift 2
    timeout 60 "$bundle" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$wanted" ] || fail "$*: ends with $got, not $wanted: $(cat err)"
    [ "$(wc -l <err)" = $((${#message} > 0)) ] || fail "$*: says $(cat err)"
    [ -z "$message" ] || grep -qF -e "$message" err || fail "$*: says $(cat err), not $message"
}

# unpack FILE: into the folder npumem-bundle.
unpack() {
    rm -rf npumem-bundle
    case $1 in
    *.tar) tar -xf "$1" ;;
    *) zstd -q -dc "$1" | tar -xf - ;;
    esac || fail "$1 is not unpacked"
}

# views DATABASE OUTPUT: all that its views say, those of single rows and of what is kept left out.
views() {
    sqlite3 -safe "$1" "SELECT printf('SELECT ''%w'', %s FROM %w;', v.name, group_concat(printf('\"%w\"', c.name), ', '), v.name)
        FROM sqlite_master AS v JOIN pragma_table_info(v.name) AS c WHERE v.type = 'view'
        AND v.name NOT IN ('catalog', 'allocation', 'allocation_detail') AND NOT (v.name = 'completeness' AND c.name = 'detail')
        GROUP BY v.name" >ask.sql
    sqlite3 -safe "$1" <ask.sql | sort >"$2" || fail "$1 cannot be asked"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

for name in heap_place leak fragmentation_verdict out_of_memory misuse copy_summary early_free; do
    "$text2trace" "$sql/$name/trace.txt" run.zst || fail "$name: no trace"
    "$ingest" --force run.zst >screen 2>load.err || [ $? = 3 ] || fail "$name: is not loaded"
    "$ingest" --force -q --detail live -o live.db run.zst 2>load.err || [ $? = 3 ] || fail "$name: is not loaded"
    cp run.db kept.db
    expect 0 '' -q --force --lang en run.db
    [ ! -s out ] || fail "$name: -q prints"
    cmp run.db kept.db || fail "$name: the database has changed"
    unpack run.bundle.tar.zst
    [ "$(cd npumem-bundle && echo *)" = 'README.txt findings.json run.db screen.txt selfcheck.txt settings.txt versions.txt' ] ||
        fail "$name: it holds $(ls npumem-bundle)"
    cmp screen npumem-bundle/screen.txt || fail "$name: another screen"
    (cd npumem-bundle && "$ingest" --json run.db) | sed 's/"program":"ingest"/"program":"bundle"/' | cmp - npumem-bundle/findings.json ||
        fail "$name: other findings"
    grep -qE "^ *schema [0-9]+, by npumem-ingest $("$ingest" --version | sed -n '1s/.* //p')$" npumem-bundle/versions.txt ||
        fail "$name: versions: $(cat npumem-bundle/versions.txt)"
    views run.db whole && views npumem-bundle/run.db bundled
    [ "$(wc -l <whole)" -gt 60 ] || fail "$name: only $(wc -l <whole) rows are compared"
    diff whole bundled >&2 || fail "$name: views say something else"
    [ "$(sqlite3 npumem-bundle/run.db 'PRAGMA quick_check; SELECT DISTINCT detail FROM input')" = $'ok\nlive' ] ||
        fail "$name: the database is damaged, or has other detail"
    sqlite3 live.db "ATTACH 'npumem-bundle/run.db' AS b; SELECT * FROM allocation WHERE NOT is_segment EXCEPT SELECT * FROM b.allocation;
        SELECT * FROM b.allocation EXCEPT SELECT * FROM allocation; SELECT * FROM b.operation EXCEPT SELECT * FROM operation;
        SELECT * FROM b.copy; SELECT * FROM z_left_out EXCEPT SELECT * FROM b.z_left_out" >rows
    [ ! -s rows ] || fail "$name: other rows than with --detail live: $(head -n 3 rows)"
done

"$text2trace" "$sql/heap_place/trace.txt" run.zst && "$ingest" --force -q run.zst || fail 'no database'
expect 0 'names hosts, users, paths and arguments (--redact' --force run.db
cp run.bundle.tar.zst first.zst
expect 0 '' -q --force run.db
cmp run.bundle.tar.zst first.zst || fail 'a second bundle is another'
expect 0 '' -q run.db -o flat.tar
zstd -q -dc first.zst >unpacked.tar && tar -tf flat.tar >names && [ "$(wc -l <names)" = 7 ] || fail 'flat.tar is no tar'
"$bundle" -q run.db -o - | zstd -q -dc | cmp - unpacked.tar || fail 'standard output is another'
[ "$(stat -c %s flat.tar)" -gt "$(($(stat -c %s first.zst) * 4))" ] || fail 'it is not compressed'
# Time and owner are the run's and nobody's.
begin=$(sqlite3 run.db 'SELECT coalesce(max(start_realtime_ns), 0) / 1000000000 FROM input')
TZ=UTC tar --numeric-owner --full-time -tvf flat.tar | awk '{print $1, $2, $4, $5}' | sort -u >owner
[ "$(cat owner)" = "-rw-r--r-- 0/0 $(TZ=UTC date -d "@$begin" '+%F %T')" ] || fail "owner and time are $(cat owner)"

# What is set for all of a load stays.
printf 'function plumbed_*\n' >rules
"$ingest" -q -o set.db --threshold fragmentation=123MiB --site-rules rules run.zst || fail 'no database with floors'
expect 0 '' -q set.db
unpack set.bundle.tar.zst
grep -q '^  fragmentation 128974848 bytes$' npumem-bundle/settings.txt && grep -q '^  function plumbed_\*$' npumem-bundle/settings.txt ||
    fail "settings are $(cat npumem-bundle/settings.txt)"
grep -q 'events here$' npumem-bundle/selfcheck.txt && grep -q 'no report' npumem-bundle/selfcheck.txt || fail 'selfcheck.txt'
expect 0 '' -q --force --lang zh run.db && unpack run.bundle.tar.zst && "$ingest" --lang zh run.db | cmp - npumem-bundle/screen.txt ||
    fail 'it is not in Chinese'
printf 'npumem self-check: AGREES\nhost, 2026-11-25 04:14 +0000\nred \033[31m\n' >report
expect 0 '' -q --force --selfcheck report run.db
unpack run.bundle.tar.zst
tail -n 3 npumem-bundle/selfcheck.txt | diff - <(sed 's/\x1b/?/' report) || fail "the report is $(tail -n 3 npumem-bundle/selfcheck.txt)"

# Of a database of somebody else the rows alone come along: not what was added, nor what was deleted.
cp run.db hostile.db
sqlite3 hostile.db "PRAGMA secure_delete = OFF; CREATE TABLE mine (a); INSERT INTO mine VALUES ('planted' || hex(randomblob(20000))); CREATE TRIGGER t AFTER INSERT ON mine
                    BEGIN DELETE FROM heap; END; DROP VIEW leak; CREATE VIEW leak (heap) AS SELECT load_extension('x'); DROP TABLE mine" >sqlite.out
grep -q planted hostile.db || fail 'nothing was planted'
expect 0 '' -q hostile.db
cmp hostile.bundle.tar.zst first.zst || fail 'something of a database comes along that is no row of ours'

# Less of a database by hand is the same database.
"$ingest" -q --detail live -o less.db run.db && unpack first.zst && cmp less.db npumem-bundle/run.db || fail '--detail of a database is another'
"$ingest" -q --detail none -o less.db --force run.db || fail '--detail none of a database'
[ "$(sqlite3 less.db 'SELECT (SELECT count(*) FROM allocation) || detail FROM input')" = 0none ] || fail '--detail none keeps rows'
expect 0 '' -q less.db
unpack less.bundle.tar.zst
[ "$(sqlite3 npumem-bundle/run.db 'SELECT detail FROM input')" = none ] || fail 'there is more than there was'

# Refused: one line, and nothing is left.
rm -f ./*.tar ./*.tar.zst
head -c 20000 run.db >cut.db
cp run.db broken.db
sqlite3 run.db "SELECT (rootpage - 1) * 16384 FROM sqlite_master WHERE name = 'heap'" >page
head -c 4096 /dev/zero | tr '\0' '\377' | dd of=broken.db bs=1 seek="$(cat page)" conv=notrunc status=none
sqlite3 foreign.db 'CREATE TABLE t (a)'
: >empty.db
mkfifo pipe.db
cp hostile.db column.db && sqlite3 column.db 'ALTER TABLE heap ADD COLUMN mine'
for file in cut broken foreign empty pipe column none; do
    expect 1 "npumem-bundle: $file.db: " $file.db
done
expect 1 'npumem-bundle: run.zst: not a database of npumem-ingest' run.zst
expect 1 'npumem-bundle: .: not a file' .
for file in "$old"/*.db.zst; do
    zstd -q -d -f "$file" -o old.db
    [ "$(sqlite3 old.db 'PRAGMA user_version')" != "$(sqlite3 run.db 'PRAGMA user_version')" ] || continue
    expect 1 'ingest ' old.db
    grep -q 'schema version' err || fail "$file: says $(cat err)"
done
expect 1 'npumem-bundle: report2: cannot open' --selfcheck report2 run.db
expect 1 'npumem-bundle: rules: not a report of npumem-record --selfcheck' --selfcheck rules run.db
expect 2 'no database' -q
expect 2 'one database at a time' run.db set.db
expect 2 'run.db: is the input itself' -o run.db --force run.db
expect 1 'nowhere/x.tar: ' -o nowhere/x.tar run.db
[ -z "$(find . -name '*.tar*' -o -name '*.tmp')" ] || fail "left: $(find . -name '*.tar*' -o -name '*.tmp')"
echo mine >run.bundle.tar.zst
expect 1 'run.bundle.tar.zst: is already there (--force replaces it)' run.db
[ "$(cat run.bundle.tar.zst)" = mine ] || fail 'what was there is gone'
mkdir temporary
TMPDIR=$PWD/temporary "$bundle" run.db -o - >/dev/full 2>err
[ $? = 1 ] && [ "$(cat err)" = 'npumem-bundle: standard output: cannot write: No space left on device' ] || fail "a full disk: $(cat err)"
[ -z "$(ls temporary)" ] || fail "left in the temporary folder: $(ls temporary)"
[ $failures = 0 ] || exit 1
