#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Small rules of the tree: limits of length, the licence line, nothing left over, no instruction without its twin.
set -u
. "${0%/*}/common.sh"

[ "$(wc -l <CONTRIBUTING.md)" -le 120 ] || fail "CONTRIBUTING.md has more than 120 lines"
grep -q 'Apache License' LICENSE || fail "LICENSE is not the Apache License"

# fail_each TEXT: a failure for each file that standard input names, as FILE or FILE:LINE:TEXT.
fail_each() {
    local line file last=
    while IFS= read -r line; do
        file=${line%%:*}
        [ "$line" = "$file" ] || printf '%s\n' "$line" >&2
        [ "$file" = "$last" ] || fail "$file $1"
        last=$file
    done
}

# Each rule reads all files at once: a process a file takes minutes where many tests run.
mapfile -t files < <(source_files '*.c' '*.h' '*.cpp' '*.hpp' | sort)
[ ${#files[@]} -gt 500 ] || fail "only ${#files[@]} files were found"
fail_each "does not begin with its SPDX line" < <(
    awk 'FNR == 1 && /SPDX-License-Identifier: Apache-2\.0/ { print FILENAME }' "${files[@]}" | comm -23 <(printf '%s\n' "${files[@]}") -)
fail_each "has something left over" < <(grep -nHE '\b(T[O]DO|F[I]XME|X[X]X)\b' "${files[@]}")
fail_each "uses intrinsics of one architecture" < <(
    grep -nHE 'include <(x86intrin|immintrin|emmintrin|arm_neon)\.h>' "${files[@]}")

# Code for one architecture stands beside code for the other: named, or an #else.
fail_each "knows x86-64 but not aarch64" < <(
    source_files 'src/*.c' 'src/*.h' | grep '^src/' | xargs grep -l '__x86_64__' | xargs -r grep -LE '__aarch64__|^ *# *else')

# The newest entry of CHANGELOG.md is the version that is built, and says which formats it has.
version=$(sed -n 's/^project(npumem VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
newest=$(grep -m 1 '^## \[' CHANGELOG.md)
[ -n "$version" ] && [[ $newest == "## [$version]"* ]] || fail "CHANGELOG.md begins with $newest, not with $version"
trace=$(grep -ohE '#define NM_TRACE_VERSION_(MAJOR|MINOR) +[0-9]+' src/trace/*.h | awk '{ print $3 }' | paste -sd.)
schema=$(grep -ohE 'NM_SCHEMA_VERSION +[0-9]+' src/store/*.h | awk '{ print $2 }')
grep -qx "Trace format $trace, database schema $schema." CHANGELOG.md ||
    fail "CHANGELOG.md does not say: Trace format $trace, database schema $schema."

# What a list names exists, and what exists is in a list. Of answers, which the build gathers, the name is all there is to say.
rules=$(cat cmake/*.cmake)
for file in $(source_files 'src/*.c' | grep '^src/'); do
    name=${file##*/} list=${file%/*}/CMakeLists.txt text=$rules
    [ ! -f "$list" ] || text+=$'\n'$(<"$list")
    [[ $text == *CONFIGURE_DEPENDS\ \*.c* ]] || [[ $text =~ (^|[^A-Za-z0-9_])"$name"($|[^A-Za-z0-9_]) ]] || fail "$file is in no CMakeLists.txt"
done
for file in src/*/CMakeLists.txt; do
    LC_ALL=C awk '/SOURCES/ { last = "" } /^ *[a-z0-9_]+\.c$/ { if ($1 < last) exit 1; last = $1 }' "$file" ||
        fail "the sources in $file are not in order"
done
passes=$(grep -ohE '^const nm_pass nm_[a-z_]+_pass\b' src/analysis/*.c | sed -E 's/.* nm_(.*)_pass/\1/' | sort)
listed=$(sed -nE 's/^PASS\(([a-z_]+)\).*/\1/p' src/analysis/*.def | sort)
[ -n "$passes" ] && [ "$passes" = "$listed" ] ||
    fail "what analysis/*.def say and what is defined differ: $(diff <(echo "$passes") <(echo "$listed") | grep '^[<>]')"

# SQL cannot include a header: where it asks for the program's own memory it repeats one number of trace/event.h.
app=$(sed -n 's/.*NM_MODULE_APP = \([0-9]*\),.*/\1/p' src/trace/event.h)
repeated=$(grep -ohE 'module_id(, | <> | = )[0-9]+' schema/*.sql | grep -oE '[0-9]+' | sort -u)
[ -n "$app" ] && [ "$repeated" = "$app" ] || fail "schema/ asks for module $repeated, trace/event.h says $app"
finish
