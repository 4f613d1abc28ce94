#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every C and C++ file is as clang-format would write it. Other versions of clang-format lay out differently: skipped then.
set -u
. "${0%/*}/common.sh"

version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
[ "$version" = 14 ] || skip "clang-format 14 is wanted, here is '${version:-none}'"

# All in one run: to start clang-format takes longer than to read a file.
report=$(source_files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror 2>&1) ||
    fail "not as clang-format -i writes it: $(printf '%s\n' "$report" | grep 'error:' | cut -d: -f1 | sort -u | tr '\n' ' ')"
finish
