#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# python_api.sh 3.N TEST.py ARG...: runs TEST.py with ARG... under CPython 3.N: one named in NPUMEM_PYTHONS (paths with
# colons), on PATH, below ~/.pyenv, or /usr/bin/python3 if it is that version. 77: there is none here.
set -u
version=$1 test=$2 && shift 2
IFS=: read -ra named <<<"${NPUMEM_PYTHONS:-}"

for python in "${named[@]}" "$HOME/.pyenv/versions/$version".*/bin/python3 "python$version" /usr/bin/python3; do
    found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    [ "$found" = "$version" ] || continue
    echo "CPython $("$python" -c 'import sys; print(sys.version.split()[0], sys.executable)')"
    exec "$python" -X dev -W error "$(dirname "$0")/$test" "$@"
done
echo "skipped: CPython $version is not here"
exit 77
