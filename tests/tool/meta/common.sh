# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the scripts of this folder. The working folder is the root of the sources.

failures=0

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# What of a test is not done here, and why: ./test.sh lists these lines.
leave_out() {
    printf 'skipped: %s\n' "$*"
}

skip() {
    leave_out "$*"
    exit 77
}

# The names of FILE's headings, as hosts of repositories make them: lower case, blanks to hyphens, punctuation gone.
anchors_of() {
    sed '/^```/,/^```/d' "$1" | sed -n 's/^##* //p' | tr '[:upper:]' '[:lower:]' | LC_ALL=C.UTF-8 sed -E 's/`//g; s/[^[:alnum:] _-]//g; s/ /-/g'
}

# choose_packages BUILD: $packages is where they are and $quick what the names of their targets begin with, of the short form unless
# NPUMEM_NIGHTLY is set (./test.sh --nightly).
choose_packages() {
    packages=$1 quick=
    [ -z "${NPUMEM_NIGHTLY:-}" ] || return 0
    packages=$1/quick quick=quick_
    leave_out "no .rpm, and programs optimized file by file: the whole is for ./test.sh --nightly"
}

finish() {
    [ "$failures" = 0 ] || exit 1
    exit 0
}

# source_files PATTERN...: the project's files, with or without git.
source_files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -- "$@" | while read -r file; do [ -f "$file" ] && printf '%s\n' "$file"; done
    else
        local pattern
        for pattern in "$@"; do
            find . -path ./build -prune -o -path ./demo -prune -o -type f -name "${pattern##*/}" -print
        done | sed 's|^\./||' | sort -u
    fi
}
