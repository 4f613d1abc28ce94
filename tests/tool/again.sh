#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# again.sh BIN_FOLDER TEXT2TRACE SQL_FOLDER OLD_DATABASES SCRATCH: npumem-ingest of a database prints and writes what the load
# printed and wrote, changes nothing, runs nothing of the file, says when the trace is newer, and refuses what it cannot do.
set -u
bin=$1 text2trace=$2 sql=$3 old=$4 scratch=$5 failures=0
ingest=$bin/npumem-ingest

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# expect STATUS MESSAGE ARG...: one line on standard error that has MESSAGE, or with an empty one none.
expect() {
    local wanted=$1 message=$2 got
    shift 2
    "$ingest" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$wanted" ] || fail "$*: ends with $got, not $wanted: $(cat err)"
    [ "$(wc -l <err)" = $((${#message} > 0)) ] || fail "$*: says $(cat err)"
    [ -z "$message" ] || grep -qF -e "$message" err || fail "$*: says $(cat err), not $message"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

# The same as of the load, of runs of many kinds.
for name in heap_place leak fragmentation_verdict out_of_memory copy_summary; do
    mkdir $name
    "$text2trace" "$sql/$name/trace.txt" $name/run.zst || fail "$name: no trace"
    "$ingest" --csv csv --csv-all $name/run.zst >$name/first 2>$name/first.err
    status=$?
    mv csv $name/csv
    cp $name/run.db $name/kept.db
    "$ingest" --csv csv --csv-all $name/run.db >$name/second 2>$name/second.err
    [ $? = $status ] || fail "$name: ends other than the load, with $status"
    cmp $name/first $name/second || fail "$name: other answers"
    diff -r $name/csv csv || fail "$name: other CSV files"
    [ "$(wc -l <$name/first.err)" -ge "$(wc -l <$name/second.err)" ] || fail "$name: says $(cat $name/second.err)"
    cmp $name/run.db $name/kept.db || fail "$name: the database has changed"
    rm -r csv
done
[ "$(cd heap_place && ls)" = "$(printf '%s\n' csv first first.err kept.db run.db run.zst second second.err)" ] ||
    fail "something was left: $(ls heap_place)"

cp heap_place/run.zst heap_place/run.db . && touch -d '1 hour ago' run.zst
expect 0 '' -q run.db
[ ! -s out ] || fail '-q prints'
expect 1 '.csv is already there' --csv heap_place/csv run.db
expect 0 '' --csv heap_place/csv --force --csv-bom run.db
[ "$(head -c 3 heap_place/csv/leak.csv | od -An -tx1)" = ' ef bb bf' ] || fail 'no byte order mark'

# A trace that was written later: named by the database, beside it, or of its name.
touch -d '1 hour' run.zst
expect 0 'npumem-ingest: run.zst is newer than this database: npumem ingest --force run.zst' run.db
mkdir moved && cp -p run.db run.zst moved
touch -d '1 hour ago' run.zst
expect 0 'npumem-ingest: moved/run.zst is newer than this database: npumem ingest --force moved/run.zst' moved/run.db
mv moved/run.db moved/other.db
expect 0 'moved/run.zst is newer than this database: npumem ingest --force -o moved/other.db moved/run.zst' moved/other.db
mv moved/run.zst moved/other.zst
sqlite3 moved/other.db "UPDATE input SET path = 'gone.zst'"
touch -d '1 hour' moved/other.zst
expect 0 'moved/other.zst is newer than this database: npumem ingest --force moved/other.zst' moved/other.db
expect 0 '' -q moved/other.db
mv moved/other.zst moved/other.pickle
expect 0 'moved/other.pickle is newer' moved/other.db
rm moved/other.pickle
expect 0 '' moved/other.db
# A name that means something to a shell is in no command.
touch -d '1 hour' 'a;b.zst'
sqlite3 moved/other.db "UPDATE input SET path = 'a;b.zst'"
touch moved/other.db
expect 0 'npumem-ingest: a;b.zst is newer than this database: ingest it again' moved/other.db

# What is of loading alone.
for option in '--server-after 1h' '--site-rules rules' '--step-at none' '--symbols .' '--threshold zero-copy=1MiB'; do
    : >rules
    # shellcheck disable=SC2086 # two words
    expect 2 "run.db: is a database already: ${option%% *} is for loading its trace" $option run.db
done
expect 2 'run.db: is a database already: --redact needs -o FILE.db' --redact run.db
expect 2 '2 inputs (run.db, run.zst, ...) need -o FILE.db' run.db run.zst
expect 2 'run.db: is a database already: --detail needs -o FILE.db' --detail live run.db
[ ! -e new.db ] || fail 'there is a copy'

# With -o another database is made of it, as of several.
expect 0 '' -q -o new.db run.db
same=$(sqlite3 run.db 'SELECT * FROM peak_by_site; SELECT * FROM leak_by_site' | md5sum)
[ "$(sqlite3 new.db 'SELECT * FROM peak_by_site; SELECT * FROM leak_by_site' | md5sum)" = "$same" ] || fail 'another database says something else'
rm -f new.db

# What is redacted keeps the names that may be sent.
"$ingest" -q --redact -o red.db run.zst && "$ingest" red.db >out || fail 'a redacted database is not printed'
grep -q red.db out && fail 'its name is printed'

# Databases of others: nothing of them is run, what is damaged or old is said.
cp run.db hostile.db
sqlite3 hostile.db "CREATE TABLE mine (a); CREATE TRIGGER t AFTER INSERT ON mine BEGIN DELETE FROM heap; END; DROP VIEW leak;
                    CREATE VIEW leak (heap) AS SELECT load_extension('x')"
expect 0 '' --csv hostile hostile.db
# catalog lists what the file has.
"$ingest" -q --csv plain run.db && diff -r -x catalog.csv plain hostile || fail 'views of the file are asked'
sqlite3 hostile.db 'ALTER TABLE heap ADD COLUMN mine'
expect 1 'hostile.db: ' hostile.db
head -c 20000 run.db >cut.db
expect 1 'cut.db: ' cut.db
sqlite3 foreign.db 'CREATE TABLE t (a)'
expect 1 'foreign.db: not a database of npumem-ingest' foreign.db
: >empty.db
expect 1 'empty.db: ' empty.db
# Of the last two versions it says what it says of the newest, which was made of the same trace.
newest=$(sqlite3 run.db 'PRAGMA user_version')
for file in "$old"/*.db.zst; do
    rm -rf old && mkdir old
    zstd -q -d -f "$file" -o old/run.db
    version=$(sqlite3 old/run.db 'PRAGMA user_version')
    cd old || exit 1 # where no newer trace is
    if [ $((version + 2)) -ge "$newest" ]; then
        expect 0 '' run.db
        cp out "../said.$version"
    else
        expect 1 'ingest ' run.db
        grep -q 'schema version' err || fail "$file: says $(cat err)"
    fi
    cd ..
done
[ "$(ls said.* | wc -l)" = 3 ] || fail "not three versions are read: $(ls said.*)"
for version in $((newest - 2)) $((newest - 1)); do
    cmp "said.$version" "said.$newest" || fail "of version $version it says something else"
done
"$ingest" run.db >/dev/full 2>err
[ $? = 3 ] && [ "$(cat err)" = 'npumem-ingest: standard output: cannot write: No space left on device' ] || fail "a full disk is $(cat err)"
[ $failures = 0 ] || exit 1
