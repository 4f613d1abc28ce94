#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# conformance.sh BIN_FOLDER SCRATCH: the protocol's own tests of servers (@modelcontextprotocol/conformance), which know HTTP alone: a bridge
# stands before npumem-mcp. What they want of tools, resources and prompts that a server may have is expected to fail, by name
# (conformance.yml); what is expected to fail and does not is a fault, too.
set -u
bin=$1 scratch=$2
here=$(cd "${0%/*}" && pwd)
modules=$here/../../../build/node/node_modules
node=$(command -v node nodejs | head -n 1)
[ -n "$node" ] || { echo "skipped: no node here: the protocol's own tests are not run" && exit 77; }
[ -d "$modules/@modelcontextprotocol/conformance" ] ||
    { echo "skipped: no @modelcontextprotocol/conformance in build/node (./test.sh installs it)" && exit 77; }
"$node" -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20)' ||
    { echo "skipped: this node is older than 20, which the protocol's own tests need" && exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch/in"
cd "$scratch" || exit 1
"$node" "$here/bridge.mjs" "$bin/npumem-mcp" --folder in >url &
bridge=$!
trap 'kill $bridge' EXIT
for _ in $(seq 100); do
    [ ! -s url ] || break
    sleep 0.1
done
"$node" "$modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$(cat url)" --expected-failures "$here/conformance.yml" >out 2>&1 </dev/null
status=$?
tail -n 60 out
grep -q 'ping: 1 passed, 0 failed' out || { echo 'the tests did not run' && exit 1; }
exit $status
