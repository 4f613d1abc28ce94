#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# format.sh SCRATCH: every C and C++ file is as clang-format would write it. Other versions of clang-format lay out differently:
# skipped then. A file is looked at once as it is: SCRATCH keeps the sums of those that were well.
set -u
. "${0%/*}/common.sh"
seen=$1

version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
[ "$version" = 14 ] || skip "clang-format 14 is wanted, here is '${version:-none}'"

# SUM OF THE RULES, SUM  FILE: a line a file.
rules=$(sha256sum <.clang-format | cut -d' ' -f1)
sums=$(source_files '*.c' '*.h' '*.cpp' '*.hpp' | xargs sha256sum | sed "s/^/$rules /")
new=$(printf '%s\n' "$sums" | { grep -vxFf "$seen" 2>/dev/null || [ -s "$seen" ] || cat; } | sed 's/^[^ ]* [^ ]*  //')

# FILE...: those that are not. Many in one run: to start clang-format takes longer than to read a file.
layout_differs() {
    local said
    said=$(clang-format --dry-run -Werror "$@" 2>&1) && return
    said=$(grep 'error:' <<<"$said" | cut -d: -f1 | sort -u)
    printf '%s\n' "${said:-clang-format fails}"
}
export -f layout_differs
differing=$(printf '%s' "$new" | xargs -r -P "$(nproc)" -n 100 bash -c 'layout_differs "$@"' -) && [ -z "$differing" ] &&
    printf '%s\n' "$sums" >"$seen" || fail "not as clang-format -i writes it:" $differing
echo "$(printf '%s' "$new" | grep -c .) of $(printf '%s\n' "$sums" | wc -l) files are new here"
finish
