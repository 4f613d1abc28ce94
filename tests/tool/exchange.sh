#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# exchange.sh NATIVE_BUILD CROSS_BUILD EMULATOR SCRATCH TEXT_TRACE...: each architecture writes a trace from each text
# trace, each ingests both, and the four databases hold the same rows.
set -u
native=$1 cross=$2 emulator=$3 scratch=$4
shift 4
failures=0

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# on ARCHITECTURE PROGRAM ARG...
on() {
    local architecture=$1 program=$2
    shift 2
    case $architecture in
    native) "$native/$program" "$@" ;;
    cross) "$emulator" "$cross/$program" "$@" ;;
    esac
}

rm -rf "$scratch"
mkdir -p "$scratch"
for text in "$@"; do
    name=$(basename "$text" .txt)
    expected=
    for writer in native cross; do
        trace=$scratch/$name.$writer.zst
        on "$writer" tests/support/text2trace "$text" "$trace" || fail "$writer does not write $name"
        for reader in native cross; do
            db=$scratch/$name.$writer.$reader.db
            on "$reader" bin/npumem-ingest --quiet -o "$db" "$trace"
            status=$?
            [ "$status" = 0 ] || [ "$status" = 3 ] || fail "$reader does not read what $writer wrote ($name): $status"
            sqlite3 "$db" "UPDATE input SET path = ''" .dump >"$db.sql" 2>&1 || fail "$db is no database"
            grep -q 'INSERT INTO z_allocation ' "$db.sql" || fail "$db has no allocations"
            expected=${expected:-$db.sql}
            cmp "$expected" "$db.sql" || fail "$name: written by $writer, read by $reader: other rows"
        done
    done
done
[ "$failures" = 0 ]
