#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sdk.sh BIN_FOLDER TEXT2TRACE TRACE.txt SCRATCH: npumem-mcp under the protocol's own clients (sdk.mjs). Skipped, with a word, without node or
# without them.
set -u
bin=$1 text2trace=$2 text=$3 scratch=$4
here=$(cd "${0%/*}" && pwd)
modules=$here/../../../build/node/node_modules
node=$(command -v node nodejs | head -n 1)
[ -n "$node" ] || { echo "skipped: no node here: npumem mcp is not asked by other clients" && exit 77; }
[ -d "$modules/@modelcontextprotocol/sdk" ] && [ -d "$modules/@modelcontextprotocol/client" ] ||
    { echo "skipped: no @modelcontextprotocol in build/node: npumem mcp is not asked by other clients (./test.sh installs it)" && exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch"
"$text2trace" "$text" "$scratch/run.zst" && "$bin/npumem-ingest" --quiet "$scratch/run.zst" || exit 1
"$node" "$here/sdk.mjs" "$modules" "$bin/npumem-mcp" "$scratch"
