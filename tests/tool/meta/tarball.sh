#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tarball.sh BUILD SAMPLE SCRATCH: what target `tarball` makes works where it is unpacked, in a place that holds libc and
# nothing else, and asks for no libc that an old host lacks.
set -u
. "${0%/*}/common.sh"
build=$1 sample=$2 scratch=$3
choose_packages "$build"

# Ubuntu 20.04 has glibc 2.31, openEuler 22.03 has 2.34.
newest_allowed=2.28

rm -rf "$scratch"
mkdir -p "$scratch/unpacked here"
for library in libsqlite3 libzstd libcsv libdw libelf libz liblzma libbz2; do
    [ -e "$(cc -print-file-name=$library.a)" ] && [ "$(cc -print-file-name=$library.a)" != "$library.a" ] ||
        skip "no $library.a here"
done
cmake --build "$build" --target "${quick}tarball" >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log" >&2
    fail "the tarball is not built"
    finish
}
tar xzf "$packages"/npumem-*-linux-*.tar.gz -C "$scratch/unpacked here" || fail "the tarball cannot be unpacked"
place=$(echo "$scratch/unpacked here"/npumem-*)
for file in bin/npumem-record bin/npumem-ingest bin/npumem-check bin/npumem-diff bin/npumem-whatif bin/npumem-stack bin/npumem-export bin/npumem-report bin/npumem-bundle bin/npumem-top bin/npumem-mcp bin/npumem lib/libnpumem.so \
    lib/libnpumem_hook.so include/npumem.h include/npumem.hpp env.sh \
    lib/libnpumem_libascend_kernel_hook.so share/man/man1/npumem-record.1 share/npumem/queries/largest_live.sql \
    share/bash-completion/completions/npumem-record; do
    [ -s "$place/$file" ] || fail "$file is not in the tarball"
done

# A shell that reads env.sh finds all of it.
[ "$(env -i PATH=/usr/bin:/bin bash -uc '. "$1/env.sh"; command -v npumem-record' - "$place")" = "$place/bin/npumem-record" ] ||
    fail "env.sh does not lead to the programs"

# Neither program wants a library but libc's, and those in versions that old hosts have.
readelf -lW "$place/bin/npumem-ingest" | grep -q INTERP && fail "npumem-ingest is not static"
needed=$(readelf -d "$place/bin/npumem-record" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
[ "$needed" = 'libc.so.6 libdl.so.2 libpthread.so.0 ' ] || fail "npumem-record needs $needed"
for file in "$place/bin/npumem-record" "$place"/lib/*.so; do
    newest=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
    [ "$(printf '%s\n' "GLIBC_$newest_allowed" "$newest" | sort -V | tail -n 1)" = "GLIBC_$newest_allowed" ] ||
        fail "${file##*/} needs $newest: $(objdump -T "$file" | grep "$newest" | tr -s ' ' | tr '\n' ';')"
done

# Where there is nothing but libc: the program that is recorded is the sample, with the libraries that it needs.
root=$scratch/root
mkdir -p "$root/npumem" "$root/proc" "$root/tmp" "$root/work"
cp -r "$place"/. "$root/npumem"
copy_in() {
    mkdir -p "$root${1%/*}"
    cp -L "$1" "$root$1"
}
for library in $(ldd "$place/bin/npumem-record" "$sample" | grep -o '/[^ ]* (0x' | sed 's/ (0x//' | sort -u); do
    copy_in "$library"
done
# The stand-in for CANN opens more of itself.
runtime=$(ldd "$sample" | sed -n 's|.*libacl[a-z_]*.so => \(/[^ ]*\)/libacl.*|\1|p' | head -n 1)
for library in "$runtime"/*.so; do
    copy_in "$library"
done
copy_in "$sample"
cat >"$scratch/inside.sh" <<END
mount -t proc none "$root/proc" && exec "$(command -v chroot)" "$root" /npumem/bin/npumem-record --required -o /work/run.zst -- \
    $sample --steps 3
END
if unshare -r -m -p -f true 2>/dev/null; then
    "$sample" --steps 3 >"$scratch/plain" || fail "the sample does not run"
    env -i unshare -r -m -p -f sh "$scratch/inside.sh" >"$scratch/recorded" 2>"$scratch/said" ||
        fail "recording in a bare root: $(cat "$scratch/said")"
    cmp "$scratch/plain" "$scratch/recorded" || fail "recorded, the sample prints otherwise"
    env -i unshare -r "$(command -v chroot)" "$root" /npumem/bin/npumem-ingest --quiet /work/run.zst || fail "ingesting in a bare root"
    [ "$(sqlite3 "$root/work/run.db" 'SELECT count(*) > 10, (SELECT count(*) FROM process) FROM allocation')" = '1|1' ] ||
        fail "the trace of a bare root has no allocations"
    # The self-check has its program in npumem-record; CANN is where the loader is told to look, or nowhere.
    sed -i "s|npumem-record .*|npumem-record --selfcheck -q -o /work/check.txt --force|" "$scratch/inside.sh"
    env -i LD_LIBRARY_PATH="$runtime" unshare -r -m -p -f sh "$scratch/inside.sh" 2>"$scratch/said" &&
        head -n 1 "$root/work/check.txt" | grep -qx 'npumem self-check: AGREES' ||
        fail "the self-check in a bare root: $(cat "$scratch/said" "$root/work/check.txt")"
    env -i unshare -r -m -p -f sh "$scratch/inside.sh" 2>"$scratch/said" && fail "the self-check agrees without CANN"
    grep -q 'there is nothing to record here' "$scratch/said" || fail "the self-check without CANN: $(cat "$scratch/said")"
else
    leave_out "no name space here: nothing is recorded in a bare root"
fi
finish
