#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [--full] [-R TESTS] [BUILD]: the tests with label faults of a build folder (build/dev), one after the other, and what each says
# that it has tried. --full: every point and all counts: ten thousand kills, twenty thousand reads while a database is written, an hour
# of recording, ten minutes for each target of the fuzzer; half a day. For docs/reliability.md, which says when that was done last.
# -R: only what has this in its name (a regular expression), so that several of them run side by side.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit 1

usage() {
    echo "usage: tests/faults/run.sh [--full] [-R TESTS] [BUILD]" >&2
    exit 2
}

is_full= build=build/dev failed= names=.
while [ $# -gt 0 ]; do
    case $1 in
    --full) is_full=1 ;;
    -R) [ $# -ge 2 ] || usage && names=$2 && shift ;;
    -*) usage ;;
    *) build=$1 ;;
    esac
    shift
done
[ -f "$build/CTestTestfile.cmake" ] || { echo "run.sh: $build is no build folder: ./test.sh -L faults" >&2 && exit 2; }
# Kills: of the program and of the recorder, and half as many of each with parts; ten times, for Check holds no test of 36 minutes.
[ -z "$is_full" ] || export NPUMEM_FAULTS=full NPUMEM_NIGHTLY=1 NPUMEM_KILLS=340 CK_TIMEOUT_MULTIPLIER=1000

# commands OPTION...: command and environment of each test that CTest chooses by them, without CTest around it, whose limits are those of the short form.
commands() {
    ctest --test-dir "$build" "$@" --show-only=json-v1 | python3 -c '
import json, shlex, sys
for test in json.load(sys.stdin)["tests"]:
    if "command" not in test:
        sys.exit("run.sh: " + test["name"] + " is not built")
    facts = {one["name"]: one["value"] for one in test.get("properties", [])}
    own = [one for one in facts.get("ENVIRONMENT", []) if not one.startswith("CK_TIMEOUT")]
    print(test["name"], shlex.quote(facts["WORKING_DIRECTORY"]), "env", shlex.join(own), shlex.join(test["command"]))'
}

echo "$(date -u +%F) $(git describe --always --dirty 2>/dev/null) $(nproc) processors${is_full:+, in full}"
while read -r name folder command; do
    begin=$SECONDS rounds=1 status=0
    [ -z "$is_full" ] || [ "$name" != faults.kill_recording ] || rounds=10
    echo "== $name"
    while [ $status = 0 ] && [ $((rounds -= 1)) -ge 0 ]; do
        (eval "cd $folder && $command") </dev/null
        status=$?
    done
    echo "== $name: $([ $status = 0 ] && echo passed || echo "FAILED with $status") in $((SECONDS - begin)) s"
    [ $status = 0 ] || [ $status = 77 ] || failed+=" $name"
done < <({ commands -L '^faults$' && commands -R '^(tool[.]kill_at_call|unit[.]test_changed_traces)$'; } | grep -E -- "^[^ ]*($names)[^ ]* ")
if [ -n "$is_full" ] && [[ fuzz.run =~ $names ]]; then
    tests/fuzz/run.sh --seconds 600 || failed+=" fuzz.run"
fi
[ -z "$failed" ] || { echo "failed:$failed" && exit 1; }
