#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# firefox.sh NODE BIN_FOLDER PROGRAM_FOLDER SCRATCH ON|OFF: the page of a run that leaks, loaded once in Firefox (Debian's ESR) by firefox.mjs. ON: it
# can be asked in SQL. A picture stays in SCRATCH.
set -u
node=$1 bin=$2 programs=$3 scratch=$4 has_sql=$5 here=$(cd "${0%/*}" && pwd)
modules=$here/../../build/node/node_modules
browser=$(command -v firefox-esr || command -v firefox) || { echo "skipped: no firefox here: the page is not loaded in it (./test.sh installs it)" && exit 77; }
[ -d "$modules/ws" ] || { echo "skipped: no ws in build/node: the page is not loaded in Firefox (./test.sh installs it)" && exit 77; }

die() {
    echo "$*" >&2
    exit 1
}

rm -rf "$scratch"
mkdir -p "$scratch/profile"
cd "$scratch" || exit 1
"$bin/npumem-record" -o leak.zst -- "$programs/npu_train" --steps 20 --leak >leak.log 2>&1 || die "the leaking run: $(cat leak.log)"
"$bin/npumem-ingest" --quiet leak.zst && "$bin/npumem-report" leak.db || die "leak.zst has no page"
# Its home is the scratch folder, so that it neither reads nor leaves anything elsewhere.
HOME=$scratch exec "$node" "$here/firefox.mjs" "$modules" "$browser" "$scratch" "$has_sql"
