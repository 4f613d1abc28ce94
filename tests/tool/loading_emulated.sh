#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Where test_loading cannot record, because the programs need an emulator: they print the same with and without the hook
# library preloaded.
#
#     loading_emulated.sh FOLDER_OF_LOADING FOLDER_OF_CANN HOOK_LIBRARY EMULATOR...
set -u
loading=${1:?} cann=${2:?} hook=${3:?}
shift 3
status=0

same() {
    local plain with
    plain=$("$emulator" "$@" 2>&1; echo "status $?")
    with=$("$emulator" -E LD_PRELOAD="$hook" "$@" 2>&1; echo "status $?")
    [ "$plain" = "$with" ] && return
    echo "$* differs:"
    diff <(echo "$plain") <(echo "$with") | head -20
    status=1
}

emulator=$1
same "$loading/probe" "$loading" "$cann/libascendcl.so" "$cann/libascend_hal.so" "$cann/libopapi.so" \
    "$loading/old/libascendcl.so"
same "$loading/older"
same "$loading/early_late"
same "$loading/linked_calls_lazy"
same "$loading/linked_calls_now"
for library in lazy now direct; do
    for way in global local deepbind lazy lazy-deepbind; do
        same "$loading/open_calls" "$loading/libcalls_$library.so" $way
        same "$loading/open_calls" "libcalls_$library.so" $way
    done
done
exit $status
