#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs/cann-functions.txt against the code: what it calls hooked is a hook, every hook of memory and every function of the
# stand-in that speaks of memory is in it, what is seen through another is seen there, and what is unseen has a reason.
#
#     cann_functions.sh HOOK_LIBRARY STANDIN_LIBRARY...
set -u
. "${0%/*}/common.sh"

list=docs/cann-functions.txt
hook=${1:?}
shift
command -v readelf >/dev/null || skip "no readelf here"

exported() {
    readelf --dyn-syms --wide "$@" | awk '$7 != "UND" && $4 == "FUNC" { sub(/@.*/, "", $8); print $8 }' | sort -u
}

# What speaks of memory by its name, but for questions and settings.
of_memory() {
    grep -E '^(aclrt|acltdt|hal|drv)' | grep -E 'Malloc|Alloc|Free|Mem(cpy|set|Pool(Create|Destroy|Trim|Malloc)|Map|Import|Export)|Map|HostRegister|Unregister|Unmap|Shmem|Buff|Mbuf' |
        grep -vE 'Get|Desc$|AllocatorByStream|SetDesc|ToDesc|Capabilities|PidTo'
}

entries=$(grep -v '^#' "$list")
[ "$(printf '%s\n' "$entries" | LC_ALL=C sort -u)" = "$entries" ] || fail "$list is not in order"
hooks=$(exported "$hook")

while read -r name how rest; do
    case $how in
    hooked) grep -qx "$name" <<<"$hooks" || fail "$name is no hook" ;;
    through) grep -qE "^$rest +hooked" <<<"$entries" || fail "$name: $rest is not hooked" ;;
    unseen) [ -n "$rest" ] && ! grep -qx "$name" <<<"$hooks" || fail "$name is unseen without a reason, or a hook" ;;
    *) fail "$name: what is '$how'?" ;;
    esac
done <<<"$entries"

for name in $({ printf '%s\n' "$hooks" | of_memory; exported "$@" | of_memory; } | sort -u); do
    grep -qE "^$name " <<<"$entries" || fail "$name is not in $list"
done
finish
