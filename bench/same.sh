#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# same.sh OLD_BUILD NEW_BUILD DATABASE...: whether npumem whatif, npumem export snapshot and npumem export perfetto say the same of each
# database in both builds, byte by byte, and what each took: seconds of processors and MiB at the most. Also traces and snapshots,
# of whatif alone. Ends with 1 where something differs.
set -eu
old=$(realpath "${1:?usage: same.sh OLD_BUILD NEW_BUILD DATABASE...}") new=$(realpath "${2:?usage: same.sh OLD_BUILD NEW_BUILD DATABASE...}")
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME PROGRAM ARGUMENT...: its output and status go into NAME; prints "seconds of processors, MiB".
run() {
    python3 - "$@" <<'END'
import resource, subprocess, sys
with open(sys.argv[1], "wb") as out:
    status = subprocess.run(sys.argv[2:], stdout=out, stderr=subprocess.DEVNULL).returncode
    out.write(b"\nstatus %d\n" % status)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.1f} s, {used.ru_maxrss / 1024:.0f} MiB")
END
}

result=0
# compare WHAT PROGRAM ARGUMENT...
compare() {
    local what=$1 program=$2 verdict=same before after
    shift 2
    before=$(run "$work/old" "$old/bin/$program" "$@")
    after=$(run "$work/new" "$new/bin/$program" "$@")
    cmp -s "$work/old" "$work/new" || { verdict=differs && result=1; }
    echo "$verdict: $what: $before; $after"
}

for input in "$@"; do
    name=${input##*/}
    compare "whatif $name" npumem-whatif --json --advise "$input"
    compare "whatif --suggest $name" npumem-whatif --suggest "$input"
    case $input in *.db) ;; *) continue ;; esac
    compare "snapshot $name" npumem-export -o - snapshot "$input"
    compare "perfetto $name" npumem-export -o - perfetto "$input"
done
exit $result
