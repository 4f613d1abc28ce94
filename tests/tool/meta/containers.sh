#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# containers.sh BUILD SAMPLE SCRATCH: what docs/containers.md says, in what a container is made of: name spaces of its own
# (processes, mounts, host name, no network), a root that cannot be written, 64 MiB of /dev/shm, a user without
# capabilities, and a folder of the host at /out.
set -u
. "${0%/*}/common.sh"
build=$1 sample=$2 scratch=$3

rm -rf "$scratch"
mkdir -p "$scratch/root" "$scratch/out"
[ "$(id -u)" = 0 ] && unshare -m -p -f -u -n true 2>/dev/null || skip "no root here: no container can be made"
command -v setpriv >/dev/null || skip "no setpriv here"
cmake --install "$build" --prefix "$scratch/npumem" >"$scratch/install.log" 2>&1 || fail "cmake --install failed"
# A user of the container comes to its files through folders that may be closed to others: they get places of their own.
user=1000
chown $user:$user "$scratch/out"

cat >"$scratch/container.sh" <<'END'
root=$1 out=$2 npumem=$3 sample=$4 libraries=$5
shift 5
hostname pod-7
mount --make-rprivate /
mount -t tmpfs none "$root" && mkdir -p "$root"/usr "$root"/etc "$root"/dev "$root"/proc "$root"/out "$root"/npumem "$root"/app "$root"/cann
for name in bin sbin lib lib64; do [ ! -L /$name ] || cp -P /$name "$root"; done
mount --bind /usr "$root/usr" && mount -o remount,bind,ro "$root/usr"
mount --bind "$npumem" "$root/npumem" && mount -o remount,bind,ro "$root/npumem"
mount --bind "$sample" "$root/app" && mount --bind "$libraries" "$root/cann"
mount -t tmpfs none "$root/dev" && mkdir "$root/dev/shm" && mount -t tmpfs -o size=64m,mode=1777 none "$root/dev/shm"
for name in null zero urandom; do touch "$root/dev/$name" && mount --bind /dev/$name "$root/dev/$name"; done
mount -t proc none "$root/proc"
mount --bind "$out" "$root/out"
mount -o remount,ro "$root"
exec chroot "$root" setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
END
runtime=$(ldd "$sample" | sed -n 's|.*libacl[a-z_]*.so => \(/[^ ]*\)/libacl.*|\1|p' | head -n 1)

# COMMAND...: as process 1 of a container, with the stand-in for CANN.
container() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LD_LIBRARY_PATH="" unshare -m -p -f -u -n --kill-child \
        sh "$scratch/container.sh" "$scratch/root" "$scratch/out" "$scratch/npumem" "${sample%/*}" "$runtime" \
        env LD_LIBRARY_PATH=/cann:/npumem/lib "$@"
}
program=/app/${sample##*/}

# All of it together; the trace is the user's, and named after the container's host.
container /npumem/bin/npumem-record --required -o /out/run-%h.zst -- "$program" --steps 20 --threads 4 >"$scratch/said" 2>"$scratch/err" ||
    fail "recording in a container: $(cat "$scratch/err")"
[ "$(stat -c %u "$scratch/out/run-pod-7.zst")" = $user ] || fail "the trace is of user $(stat -c %u "$scratch"/out/*)"
"$scratch/npumem/bin/npumem-ingest" --quiet "$scratch/out/run-pod-7.zst" || fail "the container's trace is not whole"
[ "$(sqlite3 "$scratch/out/run-pod-7.db" 'SELECT host, pid > 1 FROM process_place LIMIT 1' 2>/dev/null ||
    sqlite3 "$scratch/out/run-pod-7.db" "SELECT host, pid > 1 FROM process LIMIT 1")" = 'pod-7|1' ] || fail "host and pid are not the container's"

# As process 1 it hands the signal of `docker stop` on, ends as the program does, and leaves a whole trace. It takes in
# processes whose parents have ended, as an init does.
cat >"$scratch/out/serve.sh" <<'END'
trap 'echo stopping; exit 7' TERM
(sleep 0.2 & exit 0)
echo ready >/out/ready
while :; do sleep 0.05; done
END
container /npumem/bin/npumem-record -o /out/served.zst -- sh /out/serve.sh >"$scratch/served" 2>"$scratch/err" &
waited=$!
for _ in $(seq 600); do [ -e "$scratch/out/ready" ] && break || sleep 0.1; done
# unshare is our child, process 1 of the container is its.
first=$(cat "/proc/$waited/task/$waited/children" 2>/dev/null)
first=${first%% *}
while [ -n "$first" ] && [ "$(cat "/proc/$first/comm")" != npumem-record ]; do
    first=$(cat "/proc/$first/task/$first/children")
    first=${first%% *}
done
# Another process of the container talks to the recording (`docker exec`).
[ -n "$first" ] && nsenter -t "$first" -m -p -r -S $user -G $user /npumem/bin/npumem-record --ctl /out/served.zst mark asked >/dev/null ||
    fail "--ctl from within the container"
[ -n "$first" ] && kill -TERM "$first" || fail "no process 1 was found"
wait "$waited"
[ $? = 7 ] && grep -q stopping "$scratch/served" || fail "SIGTERM to process 1: $(cat "$scratch/served" "$scratch/err")"
"$scratch/npumem/bin/npumem-ingest" --quiet "$scratch/out/served.zst" || fail "a stopped container's trace is not whole"
[ "$(sqlite3 "$scratch/out/served.db" "SELECT count(*) FROM moment WHERE name = 'asked'")" = 1 ] || fail "the mark of --ctl is not there"

# Killed, with its rings below /out: what is on the disk can be read, and a recorder that sees them at the same path adds the rest.
container sh -c "/npumem/bin/npumem-record --ring-dir /out -o /out/killed.zst -- $program --steps 10000000 >/dev/null 2>&1 &
    while ! [ -s /out/killed.zst ]; do sleep 0.1; done; sleep 1; kill -9 \$!; exit 0" || fail "the killed container"
[ -n "$(ls -d "$scratch"/out/npumem-* 2>/dev/null)" ] || fail "the rings of a killed container are gone"
container /npumem/bin/npumem-record --finish /out/killed.zst 2>"$scratch/err"
grep -q 'events recovered' "$scratch/err" || fail "--finish in another container: $(cat "$scratch/err")"
"$scratch/npumem/bin/npumem-ingest" --quiet "$scratch/out/killed.zst"
[ "$(sqlite3 "$scratch/out/killed.db" 'SELECT count(*) > 100 FROM allocation')" = 1 ] || fail "the killed container's trace"
finish
