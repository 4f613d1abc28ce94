#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sentences.sh SCRIPT ARG...: a script beside it.
set -eu
command -v python3 >/dev/null || { echo "skipped: no python3 here" && exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$@"
