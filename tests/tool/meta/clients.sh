#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# clients.sh BUILD: docs/clients.md claims what tests show, and README no more than that: each test that it names is one of
# this build, each client has one, README's table has some of its rows, and nobody claims a device.
set -u
. "${0%/*}/common.sh"
build=$1

rows() {
    sed -n '/^| client /,/^$/p' "$1" | tail -n +3 | grep '^|' | cut -d'|' -f2-6
}
comm -23 <(rows README.md | sort) <(rows docs/clients.md | sort) | grep . >&2 && fail "README.md has rows that docs/clients.md has not"
[ "$(rows README.md | wc -l)" -ge 5 ] || fail "README.md has no table of clients"
[ "$(rows docs/clients.md | wc -l)" -ge 5 ] || fail "docs/clients.md has no table of clients"
[ -z "$(rows docs/clients.md | cut -d'|' -f5 | grep -v '^ no $')" ] || fail "docs/clients.md claims a device"

ctest --test-dir "$build" -N | sed -n 's/^ *Test *#[0-9]*: //p' >"$build/clients.tests"
[ "$(wc -l <"$build/clients.tests")" -gt 50 ] || fail "$build has no tests"
while IFS= read -r row; do
    mapfile -t tests < <(grep -oE '`(unit|sql|tool|meta|truth|faults)\.[a-z_0-9.]+`' <<<"$row" | tr -d '`')
    [ "${#tests[@]}" -gt 0 ] || fail "no test: $row"
    for test in "${tests[@]}"; do
        grep -qxF "$test" "$build/clients.tests" || fail "docs/clients.md names $test, which is no test"
    done
done < <(sed -n '/^| client /,/^$/p; /^| files /,/^$/p' docs/clients.md | grep '^|' | grep -vE '^\| (client|files) |^\|--')
rm -f "$build/clients.tests"
finish
