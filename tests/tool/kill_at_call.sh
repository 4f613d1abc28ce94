#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# kill_at_call.sh SHIM INGEST TEXT2TRACE TRACE.txt SCRATCH: npumem-ingest ended by SIGKILL at each of its calls that change a file:
# at its name stands what stood there, or the whole new database; and the next run succeeds and removes what was left.
set -u
shim=$1 ingest=$2 text2trace=$3 text=$4 scratch=$5 failures=0

command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3 here" && exit 77; }
[ -n "${NPUMEM_NIGHTLY:-}" ] || echo "skipped: four of five calls that write one page after another: the whole is for ./test.sh --nightly"
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
"$text2trace" "$text" run.zst && "$ingest" --quiet -o whole.db run.zst || exit 1
sqlite3 whole.db .dump >whole.txt
cp run.zst other.zst && "$ingest" --quiet --detail none -o other.db other.zst || exit 1

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

is_whole() {
    cmp -s whole.db "$1" || { [ "$(sqlite3 "$1" 'PRAGMA integrity_check')" = ok ] && sqlite3 "$1" .dump | cmp -s - whole.txt; }
}

# is_chosen AT COUNT: between the calls that begin a database and those that give it its place, page after page is written to one file:
# of these every fifth, unless NPUMEM_NIGHTLY is set (./test.sh --nightly).
is_chosen() {
    [ -n "${NPUMEM_NIGHTLY:-}" ] || [ "$1" -le 15 ] || [ "$1" -gt $(($2 - 25)) ] || [ $(($1 % 5)) = 0 ]
}

# kill_at_each WHAT OLD OPTION...: OLD: what stands there before, or nothing.
kill_at_each() {
    local what=$1 old=$2 count at news=0
    shift 2
    rm -rf place && mkdir place
    AT_CALL_COUNT=$PWD/count LD_PRELOAD=$shim "$ingest" --quiet "$@" --force -o place/run.db run.zst || fail "$what: fails with the shim"
    count=$(cat count)
    [ "$count" -gt 50 ] || fail "$what: $count calls: the shim does not see them"
    for at in $(seq "$count"); do
        is_chosen "$at" "$count" || continue
        rm -f place/run.db
        [ -z "$old" ] || cp "$old" place/run.db
        (AT_CALL=$at LD_PRELOAD=$shim "$ingest" --quiet "$@" --force -o place/run.db run.zst; exit $?) >/dev/null 2>&1
        [ $? = 137 ] || { fail "$what, call $at: it was not ended" && continue; }
        if [ ! -e place/run.db ]; then
            [ -z "$old" ] || fail "$what, call $at: what stood there is gone"
        elif [ -n "$old" ] && cmp -s "$old" place/run.db; then
            :
        elif is_whole place/run.db; then
            news=$((news + 1))
        else
            fail "$what, call $at: neither the old database nor the new one"
        fi
        [ $((at % 10)) = 0 ] || [ "$at" -ge $((count - 5)) ] || continue
        "$ingest" --quiet "$@" --force -o place/run.db run.zst || fail "$what, after call $at: the next run fails"
        is_whole place/run.db || fail "$what, after call $at: the next run gives another database"
        [ "$(ls place)" = run.db ] || fail "$what, after call $at: left: $(ls place)"
    done
    [ $news -ge 1 ] && [ $news -lt $((count / 2)) ] || fail "$what: $news of $count ends left the new database"
    echo "$what: $count calls, $news of them after the new database had its place"
}

kill_at_each "pages, nothing there" ""
kill_at_each "pages, over another" other.db
kill_at_each "inserts, over another" other.db --safe-load

[ $failures = 0 ] && cd / && rm -rf "$scratch"
exit $((failures > 0))
