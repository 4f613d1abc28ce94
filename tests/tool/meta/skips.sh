#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# skips.sh SCRATCH: no test leaves out something without a word. Each script that ends as skipped says why, and ./test.sh lists what
# CTest was told, of tests that passed too.
set -u
. "${0%/*}/common.sh"
scratch=$1

rm -rf "$scratch"
mkdir -p "$scratch"
cat >"$scratch/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(skips NONE)
enable_testing()
add_test(NAME a.part COMMAND sh -c "echo skipped: no zsh; echo skipped: no zsh; echo skipped: no fish; echo all else is fine")
add_test(NAME b.whole COMMAND sh -c "echo skipped: no root; exit 77")
add_test(NAME c.nothing COMMAND sh -c "echo nothing was skipped: all of it ran")
set_tests_properties(b.whole PROPERTIES SKIP_RETURN_CODE 77)
END
cmake -B "$scratch/build" "$scratch" >"$scratch/log" 2>&1 && ctest --test-dir "$scratch/build" >>"$scratch/log" 2>&1 ||
    fail "CTest: $(cat "$scratch/log")"
diff - <(. cmake/setup.sh && list_skipped "$scratch/build/Testing/Temporary/LastTest.log" | sort) <<'END' || fail "what is listed (>)"
skipped: a.part: no fish
skipped: a.part: no zsh
skipped: b.whole: no root
END

source_files 'tests/*.sh' | while read -r file; do
    awk -v file="$file" '
        /skipped: |leave_out/ { said = NR }
        !/^ *#/ && /exit 77/ && (!said || NR - said > 1) { print file ":" NR ": skipped without a word" }' "$file"
done | grep . >&2 && fail "tests say why they are skipped: echo 'skipped: no zsh here' before exit 77"
finish
