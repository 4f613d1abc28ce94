#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# repeats.sh BIN TEXT2TRACE NPU_TRAIN SOURCE_DIR SCRATCH: a recording counts once, however often and as whatever it is given: its trace, a copy, a
# link, a pipe, what is left of it, a database of it or of many. The figures of what comes of it are those of each recording by itself.
set -u
bin=$1 text2trace=$2 npu_train=$3 source=$4 scratch=$5 failures=0
sql=$source/tests/sql traces=$source/fixtures/traces
ingest=$bin/npumem-ingest

command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# until_true COMMAND...: for at most a minute.
until_true() {
    for _ in $(seq 600); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

# Every row of every view, without numbers of rows and what the files are called, and how many rows each table has.
figures() {
    sqlite3 "$1" "SELECT printf('SELECT ''%s'' || %s FROM %s;', name, columns, name) FROM (SELECT m.name AS name, group_concat('quote(' ||
        c.name || ')', ' || ''|'' || ') AS columns FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'view'
        AND c.name NOT LIKE '%\_id' ESCAPE '\\' AND c.name NOT IN ('site_key', 'path', 'job') GROUP BY m.name)
        UNION ALL SELECT printf('SELECT ''%s'', count(*) FROM %s;', name, name) FROM sqlite_master WHERE type = 'table'" |
        sqlite3 "$1" 2>&1 | sort
}

# expect WANTED.db LINES INPUT...: all inputs together have the figures of that database, and the lines are said.
expect() {
    local wanted=$1 lines=$2
    shift 2
    "$ingest" --force -o made.db "$@" >out 2>said || fail "$*: ends with $?: $(cat said)"
    [ "$(sed 's/^npumem-ingest: //; /tell them apart/d' said | sort)" = "$(echo "$lines" | sort)" ] || fail "$*: says $(cat said), not $lines"
    [ -e "$wanted.figures" ] || figures "$wanted" >"$wanted.figures"
    figures made.db >made.figures
    [ "$(wc -l <made.figures)" -gt 150 ] || fail "$*: only $(wc -l <made.figures) figures: $(head -3 made.figures)"
    cmp -s "$wanted.figures" made.figures || fail "$*: other figures than $wanted: $(diff "$wanted.figures" made.figures | head -6)"
}

# ---- One recording, twice

cp "$traces/format-1.5.zst" a.zst && cp a.zst b.zst && "$ingest" --quiet a.zst && cp a.db b.db || fail "no input"
ln a.zst hard.zst && ln -s a.zst soft.zst && mkdir folder && cp a.zst b.zst folder
expect a.db '' a.zst
expect a.db 'a.zst: is the recording of a.db again; left out' a.db a.zst
expect a.db 'a.zst: is the recording of a.db again; left out' a.zst a.db
expect a.db 'b.db: is the recording of a.db again; left out' a.db b.db
expect a.db 'b.db: is the recording of a.db again; left out' b.db a.db
expect a.db 'a.db: is the recording of a.db again; left out' a.db a.db
expect a.db 'b.zst: is the recording of a.zst again; left out' a.zst b.zst
expect a.db 'b.zst: is the recording of a.zst again; left out' b.zst a.zst
expect a.db 'a.zst: is the recording of a.zst again; left out' a.zst a.zst
expect a.db 'hard.zst: is the recording of a.zst again; left out' a.zst hard.zst
expect a.db 'soft.zst: is the recording of a.zst again; left out' soft.zst a.zst
expect a.db 'folder/b.zst: is the recording of folder/a.zst again; left out' folder
expect a.db 'b.zst and 1 more: are files of the recording a.zst again; left out' a.zst b.zst hard.zst
expect a.db 'a.zst: is the recording of /dev/stdin again; left out' a.zst /dev/stdin < <(cat b.zst)
expect a.db 'a.db: is the recording of /dev/stdin again; left out' a.db /dev/stdin < <(cat b.zst)
expect a.db 'a.db: is the recording of /dev/stdin again; left out' /dev/stdin a.db < <(cat b.zst)
[ -z "$("$ingest" --quiet --force -o made.db a.db b.db a.zst 2>&1)" ] || fail "--quiet says something"

# Traces of older versions have one, too.
cp "$traces/format-1.1.zst" old.zst && "$ingest" --quiet old.zst || fail "no old trace"
expect old.db 'old.zst: is the recording of old.db again; left out' old.zst old.db

# ---- What is left of one, and it

size=$(stat -c %s a.zst)
head -c $((size / 2)) a.zst >0cut.zst
cp a.zst 0damaged.zst && printf '\377\377\377\377' | dd of=0damaged.zst bs=1 seek=$((size * 2 / 3)) conv=notrunc status=none
for name in 0cut 0damaged; do
    "$ingest" --quiet $name.zst 2>/dev/null
    [ $? = 3 ] || fail "$name.zst is whole"
    [ "$(sqlite3 $name.db 'SELECT recording_id FROM input')" = "$(sqlite3 a.db 'SELECT recording_id FROM input')" ] || fail "$name.zst is another recording"
    expect a.db "$name.zst: is the recording of a.zst again; left out" a.zst $name.zst
    expect a.db "$name.zst: is the recording of a.zst again; left out" $name.zst a.zst
    expect a.db "$name.db: is the recording of a.zst again; left out" $name.db a.zst
    expect a.db "$name.db: is the recording of a.zst again; left out" a.zst $name.db
    expect a.db "$name.db: is the recording of a.db again; left out" $name.db a.db
    expect a.db "/dev/stdin: is the recording of a.zst again; left out" /dev/stdin a.zst < <(cat $name.zst)
    expect a.db "/dev/stdin: is the recording of a.zst again; left out" a.zst /dev/stdin < <(cat $name.zst)
done
expect a.db $'0damaged.db: is the recording of 0cut.db again; left out\n0cut.db: is the recording of a.db again; left out' 0cut.db 0damaged.db a.db

# ---- One of many

inputs=()
for name in leak misuse out_of_memory fragmentation_verdict graph_memory operation_memory; do
    "$text2trace" "$sql/$name/trace.txt" $name.zst 3 && "$ingest" --quiet $name.zst || fail "$name: no input"
    inputs+=($name.zst)
done
"$ingest" --quiet -o many.db "${inputs[@]}" a.zst && cp many.db copy.db || fail "no database of many"
"$ingest" --quiet -o less.db leak.db 0damaged.db misuse.db out_of_memory.db
"$ingest" --quiet -o x.db leak.db misuse.db 0cut.db
"$ingest" --quiet -o y.db misuse.db out_of_memory.db a.db
"$ingest" --quiet -o xy.db leak.db misuse.db out_of_memory.db a.db
expect many.db 'many.db: 7 of its 7 recordings left out: in copy.db again' many.db copy.db
expect many.db 'many.db: 7 of its 7 recordings left out: in copy.db again' copy.db many.db
expect many.db 'graph_memory.zst: is the recording of many.db again; left out' many.db graph_memory.zst
expect many.db 'graph_memory.db: is the recording of many.db again; left out' graph_memory.db many.db
expect many.db 'less.db: 4 of its 4 recordings left out: in many.db again' less.db many.db
expect many.db 'less.db: 4 of its 4 recordings left out: in many.db again' many.db less.db
for order in 'less.db a.zst' 'a.zst less.db'; do
    expect many.db 'less.db: 1 of its 4 recordings left out: in a.zst again' $order fragmentation_verdict.zst graph_memory.db operation_memory.zst
done
for order in 'x.db y.db' 'y.db x.db'; do
    expect xy.db $'x.db: 1 of its 3 recordings left out: in y.db again\ny.db: 1 of its 3 recordings left out: in x.db again' $order
done

# ---- With less in it

"$ingest" --quiet --detail live -o 0live.db a.zst && "$ingest" --quiet --redact -o redacted.db a.zst && cp redacted.db 0redacted.db
for order in '0live.db a.db' 'a.db 0live.db'; do
    expect a.db '0live.db: is the recording of a.db again; left out' $order
done
for order in 'redacted.db a.db' 'a.db redacted.db'; do
    expect a.db 'redacted.db: is the recording of a.db again; left out' $order
done
expect redacted.db 'redacted.db: is the recording of 0redacted.db again; left out' redacted.db 0redacted.db

# ---- Snapshots

"$bin/npumem-export" --quiet snapshot leak.db -o s.pickle && cp s.pickle t.pickle || fail "no pickle"
"$ingest" --quiet s.pickle || fail "no snapshot"
expect s.db 't.pickle: is the recording of s.pickle again; left out' t.pickle s.pickle
expect s.db 's.pickle: is the recording of s.db again; left out' s.db s.pickle
expect s.db 's.pickle: is the recording of /dev/stdin again; left out' s.pickle /dev/stdin < <(cat t.pickle)

# ---- What is no merge, and a page of several

"$bin/npumem-diff" a.db b.db >diff.out 2>&1 || fail "a run cannot be compared with its copy: $(cat diff.out)"
"$bin/npumem-check" a.db --baseline b.db >check.out 2>&1 || fail "a run cannot be held against its copy: $(cat check.out)"
page() {
    local said=$1
    shift
    "$bin/npumem-report" --force "$@" -o page.html 2>said || fail "report $*: ends with $?: $(cat said)"
    [ "$(sed 's/^npumem-report: //' said)" = "$said" ] || fail "report $*: says $(cat said), not $said"
    [ -e page.wanted ] || cp page.html page.wanted
    diff <(sed 's/ and [0-9]* more//' page.wanted) <(sed 's/ and [0-9]* more//' page.html) >page.diff || fail "report $*: another page: $(head -c 300 page.diff)"
}
page '' a.db leak.db
page 'b.db: is the recording of a.db again; left out' a.db leak.db b.db
page '0cut.db: is the recording of a.db again; left out' a.db 0cut.db leak.db

# ---- Recordings: parts that were kept, and one whose recorder was killed. On a busy machine events may be dropped: exit status 3.

# same WANTED.db INPUT...: the figures of that database, and a line for what is left out.
same() {
    local wanted=$1
    shift
    "$ingest" --force -o made.db "$@" >out 2>said
    [ -e "$wanted.figures" ] || figures "$wanted" >"$wanted.figures"
    figures made.db | cmp -s "$wanted.figures" - || fail "$*: other figures than $wanted"
    grep -q 'again; left out$' said || fail "$*: says $(cat said)"
}
"$bin/npumem-record" --quiet --stacks none -o kept.zst --keep steps:30 -- "$npu_train" --steps 60 --layers 2 >books || fail "nothing is recorded"
parts=(kept.zst.0*)
[ ${#parts[@]} -ge 2 ] || fail "only ${#parts[@]} parts"
"$ingest" --quiet -o all.db kept.zst
"$ingest" --quiet -o last.db "${parts[-1]}"
"$ingest" --quiet -o first.db "${parts[0]}"
same all.db first.db all.db last.db
same all.db last.db first.db all.db
same all.db first.db last.db kept.zst
same all.db kept.zst last.db
same all.db "${parts[@]}" "${parts[0]}"

"$bin/npumem-record" --quiet --stacks none -o cut.zst -- sh -c "'$npu_train' --steps 20; : >begun; '$npu_train' --steps 20; : >ended" >books &
recorder=$!
until_true test -e begun && kill -9 $recorder
wait $recorder 2>/dev/null
until_true test -e ended || fail "what was recorded does not end"
"$ingest" --quiet -o before.db cut.zst 2>/dev/null
cp cut.zst rest.zst && "$bin/npumem-record" --quiet --finish cut.zst
[ $? = 0 ] || [ $? = 3 ] || fail "the recording cannot be finished"
"$ingest" --quiet cut.zst
same cut.db before.db cut.zst
same cut.db cut.zst before.db
same cut.db rest.zst cut.zst
same cut.db rest.zst cut.db before.db
[ $failures = 0 ] && cd / && rm -rf "$scratch"
exit $((failures > 0))
