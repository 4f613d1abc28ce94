#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recorder's table of each CPython's layout against that version's own headers, for every version whose headers are here
# (on PATH, below ~/.pyenv, or named in NPUMEM_PYTHONS, paths with colons).
#     python_layout.sh COMPILER TABLE_PROGRAM PROBE_SOURCE WORK_FOLDER
set -u
compiler=$1 table=$2 probe=$3 work=$4
rm -rf "$work" && mkdir -p "$work" || exit 1

if [ -n "${NPUMEM_PYTHONS:-}" ]; then
    IFS=: read -ra pythons <<<"$NPUMEM_PYTHONS"
else
    pythons=("$HOME"/.pyenv/versions/3.*/bin/python3 /usr/bin/python3)
    for minor in 8 9 10 11 12 13; do pythons+=("python3.$minor"); done
fi

compared=0 failed=0
for python in "${pythons[@]}"; do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case $version in 3.8 | 3.9 | 3.10 | 3.11 | 3.12 | 3.13) ;; *) continue ;; esac
    include=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
    [ -f "$include/internal/pycore_frame.h" ] || [ -f "$include/frameobject.h" ] || continue
    if ! "$compiler" -w -I"$include" -I"$include/internal" "$probe" -o "$work/probe" 2>"$work/errors"; then
        echo "$python: the probe does not compile with its headers:" && cat "$work/errors"
        failed=1
        continue
    fi
    "$work/probe" >"$work/theirs" && "$table" "$version" >"$work/ours"
    if diff "$work/theirs" "$work/ours"; then
        echo "$version: as in $include"
    else
        echo "$version: differs from $include" && failed=1
    fi
    compared=$((compared + 1))
done
[ $failed = 0 ] || exit 1
[ $compared -gt 0 ] || { echo "skipped: no headers of CPython are here"; exit 77; }
