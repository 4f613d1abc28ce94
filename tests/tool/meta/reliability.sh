#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# reliability.sh BUILD: docs/reliability.md says what is tried: each test that it names is one of this build, each row names
# one, and each test of tests/faults stands in it, with the label by which it is not run under sanitizers too.
set -u
. "${0%/*}/common.sh"
build=$1

rows() {
    sed -n '/^| fault /,/^$/p' docs/reliability.md | tail -n +3 | grep '^|'
}
[ "$(rows | wc -l)" -ge 20 ] || fail "docs/reliability.md has no table of faults"
ctest --test-dir "$build" -N 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p' >"$build/reliability.tests"
[ "$(wc -l <"$build/reliability.tests")" -gt 50 ] || fail "$build has no tests"
while IFS= read -r row; do
    mapfile -t tests < <(grep -oE '`(unit|sql|tool|meta|truth|faults)\.[a-z_0-9.]+`' <<<"$row" | tr -d '`')
    [ "${#tests[@]}" -gt 0 ] || fail "no test: $row"
    for test in "${tests[@]}"; do
        grep -qxF "$test" "$build/reliability.tests" || fail "docs/reliability.md names $test, which is no test"
    done
done < <(rows)
while IFS= read -r test; do
    rows | grep -qF "\`$test\`" || fail "docs/reliability.md does not name $test"
done < <(grep '^faults\.' "$build/reliability.tests")
rm -f "$build/reliability.tests"
finish
