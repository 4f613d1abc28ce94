#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What documents and comments name is there: files and folders, written from the root, from src/, or from the folder that
# whoever names them is in, or the one around that. A word in capitals stands for any name (tests/unit/LAYER/test_MODULE.c).
set -u
. "${0%/*}/common.sh"

checked=0

# is_there PATTERN: some file or folder is called that.
is_there() {
    local candidate
    for candidate in $1; do
        [ ! -e "$candidate" ] || return 0
    done
    return 1
}

# check_path FILE PATH: PATH, which FILE names, exists.
check_path() {
    local top=${2%%/*} folder=${1%/*} pattern=$2
    case $2 in
    build/* | demo/*) return ;;
    *README*) ;;
    *[A-Z][A-Z]*) pattern=$(sed -E 's/[A-Z]{3,}/*/g' <<<"$2") ;;
    esac
    case $2 in
    *.c | *.h | *.def | *.sql | *.sh) ;;
    *) [ -d "$top" ] || [ -d "src/$top" ] || return ;; # of somebody else's tree
    esac
    checked=$((checked + 1))
    is_there "$pattern" || is_there "src/$pattern" || is_there "$folder/$pattern" || is_there "$folder/../$pattern" ||
        fail "$1 names $2, which is not there"
}

mapfile -t documents < <(source_files '*.md')
mapfile -t sources < <(source_files '*.c' '*.h' '*.sql')
while IFS=: read -r file path; do
    check_path "$file" "$path"
done < <(
    grep -oHE '`[A-Za-z][A-Za-z0-9_.-]*/[A-Za-z0-9_./-]*`' "${documents[@]}" | tr -d '`' | sort -u
    grep -oHE '(^|[ (,`])[a-z_]+(/[A-Za-z0-9_-]+)+\.(c|h|def|sql|sh|md)\b' "${sources[@]}" | sed -E 's/:[ (,`]/:/' |
        sort -u
)
[ "$checked" -gt 100 ] || fail "only $checked names of files were found"

echo "$checked names of files and folders"
finish
