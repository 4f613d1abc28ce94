#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# header.sh SCRATCH: the public headers compile by themselves, as C17 and as C++17 and later, without a warning, and so do
# the examples in their first comments, as they stand there.
set -u
. "${0%/*}/common.sh"
scratch=$1
includes=$PWD/src
warnings='-Wall -Wextra -Wpedantic -Wshadow -Werror'

rm -rf "$scratch"
mkdir -p "$scratch"

# HEADER: the indented lines of its first comment, in a function.
example_of() {
    cat <<END
#include "$1"
void *my_pool_allocate(size_t bytes);
void my_pool_free(void *block);
void example(size_t bytes, size_t rounded, int64_t n);
void example(size_t bytes, size_t rounded, int64_t n)
{
    (void)rounded;
END
    sed -n '/^ \*\//q; s/^ \*     //p' "src/$1" | grep -vx '\.\.\.'
    echo '}'
}

# NAME LANGUAGE HEADER COMPILER...: the header twice and the example of it.
compile() {
    local name=$1 language=$2 header=$3
    shift 3
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$scratch/$name-alone"
    example_of "$header" >"$scratch/$name-example"
    for part in alone example; do
        # shellcheck disable=SC2086 # a list of words
        "$@" $warnings -I "$includes" -x "$language" -c -o "$scratch/object" "$scratch/$name-$part" ||
            fail "$header does not compile ($part) with: $*"
        compiled=$((compiled + 1))
    done
}

compiled=0
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || { leave_out "no $compiler here" && continue; }
    compile "c-$compiler" c npumem.h "$compiler" -std=c17
done
for compiler in g++ clang++; do
    # clang++ is of no use without a C++ library beside it.
    echo '#include <cstdint>' | "$compiler" -x c++ -fsyntax-only - 2>/dev/null || { leave_out "no $compiler here" && continue; }
    for standard in c++17 c++20; do
        compile "$compiler-$standard" c++ npumem.h "$compiler" "-std=$standard" -Wold-style-cast
        compile "$compiler-$standard-hpp" c++ npumem.hpp "$compiler" "-std=$standard" -Wold-style-cast
    done
done
[ "$compiled" -gt 0 ] || skip "no compiler is here"
grep -c . "$scratch"/*-example | awk -F: '$2 < 15 { exit 1 }' || fail "an example was not found in its header"
echo "$compiled times compiled"
finish
