#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh LOG: what ./demo.sh has just printed into LOG shows commands; each of them, pasted into a new shell at the root of the
# sources, works. Of a screen those behind `next`; of the end the lines further in. YOUR_PROGRAM is the sample.
set -u
. "${0%/*}/common.sh"
log=$1
sample="build/install/fixtures/programs/npu_train --steps 20"

commands=$(
    sed -nE 's/^next +//p' "$log" | sed -E 's/    +/\n/g' | grep '^npumem'
    awk '/Try next/ { is_on = 1 } is_on && sub(/^    /, "")' "$log"
)
environment=$(grep '^\. ' <<<"$commands") || fail "no line to source"
[ "$(wc -l <<<"$commands")" -ge 6 ] || fail "only these commands: $commands"
while read -r command; do
    case $command in
    'npumem-record '* | 'npumem record '*) rm -f run.zst run.db ;;
    esac
    said=$(env -i HOME="$HOME" PATH=/usr/local/bin:/usr/bin:/bin bash -uec "$environment; ${command//YOUR_PROGRAM/$sample}" 2>&1) ||
        fail "'$command' ends with $?: $said"
done <<<"$commands"
rm -f run.zst run.db
finish
