#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every C file is as clang-format would write it. Other versions of clang-format lay out differently: skipped then.
set -u
. "${0%/*}/common.sh"

version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
[ "$version" = 14 ] || skip "clang-format 14 is wanted, here is '${version:-none}'"

while read -r file; do
    clang-format --dry-run -Werror "$file" 2>/dev/null || fail "$file is not formatted: clang-format -i $file"
done < <(source_files '*.c' '*.h')
finish
