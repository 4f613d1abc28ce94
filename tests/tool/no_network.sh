#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Nothing of npumem uses a network: no library and no program asks libc for what needs one, npumem-record alone for sockets,
# and of these none but local ones is made, also where libdw would fetch debug information (DEBUGINFOD_URLS).
#
#     no_network.sh FOLDER_OF_THE_PROGRAMS FOLDER_OF_THE_LIBRARIES PROGRAM ONLY_LOCAL_SOCKETS FOLDER
set -u
bin=$1 lib=$2 program=$3 only_local=$4 folder=$5

fail() { echo "FAIL: $*" >&2; exit 1; }

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" || exit 1

# ---- What is asked of libc: what only reads the text of an address (inet_pton) needs no network ----

names='getaddrinfo|getnameinfo|gethostby[a-z_]*|getserv[a-z_]*|res_[a-z]*|if_nametoindex|getifaddrs'
sockets='socket|socketpair|bind|connect|listen|accept4?|send(to|msg|mmsg)?|recv(from|msg|mmsg)?|[gs]etsockopt'
count=0
for file in "$bin"/npumem-* "$lib"/libnpumem*.so*; do
    [ -L "$file" ] && continue
    wanted=$(nm -D -u "$file" 2>/dev/null | sed 's/.* U //; s/@.*//')
    [ -n "$wanted" ] || continue
    count=$((count + 1))
    ! grep -Ex "$names" <<<"$wanted" >&2 || fail "$file looks up hosts"
    [ "${file##*/}" = npumem-record ] || ! grep -Ex "$sockets" <<<"$wanted" >&2 || fail "$file has sockets"
done
[ $count -ge 7 ] || fail "only $count files were looked at"

# ---- What is done ----

export ONLY_LOCAL_NOTES=$folder/notes DEBUGINFOD_URLS=http://127.0.0.1:9 XDG_CACHE_HOME=$folder/cache
LD_PRELOAD=$only_local bash -c ': >/dev/tcp/127.0.0.1/9' 2>/dev/null
[ -s notes ] || fail 'a socket was not noted'
rm notes

cp "$program" stripped && strip stripped || fail 'no stripped program'
with() { LD_PRELOAD=$only_local "$@" >>out.txt 2>>err.txt; }
with "$bin/npumem-record" --stacks native -o run.zst -- ./stripped host user /home argument "$folder/rings" || fail 'record'
with "$bin/npumem-record" -o second.zst -- ./stripped host user /home argument "$folder/rings2" || fail 'record again'
with "$bin/npumem-ingest" --symbols . --redact --csv csv --csv-all run.zst || fail 'ingest'
with "$bin/npumem-ingest" second.zst || fail 'ingest again'
with "$bin/npumem-bundle" -q run.db || fail 'bundle'
echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open","arguments":{"path":"second.zst"}}}' | with "$bin/npumem-mcp" --folder . || fail 'mcp'
with "$bin/npumem-check" run.db --complete
with "$bin/npumem-diff" run.db second.db
with "$bin/npumem-whatif" second.db
with "$bin/npumem-record" --selfcheck
[ ! -e notes ] || fail "a socket beyond the machine was asked for: $(sort notes | uniq -c)"
echo "no_network: ok"
