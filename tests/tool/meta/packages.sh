#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# packages.sh BUILD SCRATCH ARCH COMPILER [EMULATOR]: what target `packages` makes. Each package has all of its files, none
# that names the machine that built it, and asks for no more than it uses. The .deb is installed with dpkg into a root that
# has libc and nothing else, and used there; that takes root, or a name space in which one is it. An .rpm is read, where
# NPUMEM_NIGHTLY is set.
set -u
. "${0%/*}/common.sh"
build=$1 scratch=$2 arch=$3 compiler=$4
shift 4
emulator=("$@")
source=$PWD
choose_packages "$build"

# openEuler 22.03 has glibc 2.34. Depends says which is asked for.
newest_allowed=2.34

rm -rf "$scratch"
mkdir -p "$scratch"
for tool in ${NPUMEM_NIGHTLY:+rpmbuild rpm2cpio cpio} dpkg-deb gzip; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done
for library in libsqlite3 libzstd libcsv libdw libelf libz liblzma libbz2; do
    [ -e "$("$compiler" -print-file-name=$library.a)" ] || skip "no $library.a here"
done
cmake --build "$build" --target "${quick}packages" >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log" >&2
    fail "the packages are not built"
    finish
}
case $arch in
aarch64) debian=arm64 ;;
*) debian=amd64 ;;
esac
deb=$(echo "$packages"/npumem_*-1_$debian.deb) rpm=$(echo "$packages"/npumem-*-1."$arch".rpm)
tgz=$(echo "$packages"/npumem-*-linux-"$arch".tar.gz)

# ---- What is inside ----

mkdir "$scratch/deb" "$scratch/rpm" "$scratch/tgz"
dpkg-deb -x "$deb" "$scratch/deb" || fail "the .deb cannot be unpacked"
[ -n "$quick" ] || (cd "$scratch/rpm" && rpm2cpio "$rpm" | cpio -idm --quiet) || fail "the .rpm cannot be unpacked"
tar xzf "$tgz" --strip-components=1 -C "$scratch/tgz" || fail "the tarball cannot be unpacked"

# ROOT LIBRARY_FOLDER MAN_SUFFIX: prefix and folder of the libraries of a package.
look_into() {
    local prefix=$1 library=$1/$2 suffix=$3 file newest
    for file in bin/npumem-record include/npumem.h include/npumem.hpp "$2/libnpumem.so" "$2/libnpumem_hook.so" \
        "$2/libnpumem_libascend_kernel_hook.so" "$2/pkgconfig/npumem.pc" share/npumem/python/npumem.py \
        share/npumem/queries/largest_live.sql share/doc/npumem/README.md share/doc/npumem/README.zh-CN.md share/doc/npumem/docs/session.md share/doc/npumem/docs/session.zh-CN.md share/doc/npumem/CHANGELOG.md share/doc/npumem/SECURITY.md share/doc/npumem/examples/own_pool.c; do
        [ -s "$prefix/$file" ] || fail "$prefix has no $file"
    done
    for file in "$prefix"/bin/*; do
        file=${file##*/}
        [ -s "$prefix/share/man/man1/$file.1$suffix" ] || fail "$prefix has no man page of $file"
        [ -s "$prefix/share/bash-completion/completions/$file" ] || fail "$prefix has no completion of $file for bash"
        [ -s "$prefix/share/zsh/site-functions/_$file" ] || fail "$prefix has no completion of $file for zsh"
        [ -s "$prefix/share/fish/vendor_completions.d/$file.fish" ] || fail "$prefix has no completion of $file for fish"
    done
    grep -rlaF -e "$build" -e "$source" -e "$HOME/" "$prefix" && fail "$prefix names a folder of the machine that built it"
    find "$prefix" -perm /o+w ! -type l | grep . && fail "$prefix has files that anybody may write to"
    for file in "$prefix"/bin/* "$library"/*.so; do
        readelf -S "$file" | grep -q '\.debug_info' && fail "$file is not stripped"
        readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -vF '[$ORIGIN]' && fail "$file has a run path of its own"
        newest=$(readelf -W --dyn-syms "$file" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
        printf '%s\n' "$newest"
        [ "$(printf '%s\n' "GLIBC_$newest_allowed" "$newest" | sort -V | tail -n 1)" = "GLIBC_$newest_allowed" ] ||
            fail "$file needs $newest"
    done >"$scratch/versions"
    newest=$(grep GLIBC "$scratch/versions" | sort -uV | tail -n 1)
    [ "$newest" = GLIBC_2.25 ] || fail "$prefix needs $newest, and its package says 2.25"
}
look_into "$scratch/deb/usr" "lib/$arch-linux-gnu" .gz
[ -n "$quick" ] || look_into "$scratch/rpm/usr" lib64 .gz
look_into "$scratch/tgz" lib ''
[ -s "$scratch/tgz/env.sh" ] || fail "the tarball has no env.sh"
[ -s "$scratch/deb/usr/share/doc/npumem/copyright" ] || fail "the .deb has no copyright"
[ -n "$quick" ] || [ -s "$scratch/rpm/usr/share/doc/npumem/LICENSE" ] || fail "the .rpm has no LICENSE"
grep -q 'rpath' "$scratch/tgz"/lib/pkgconfig/npumem.pc || fail "the tarball's npumem.pc has no run path"
grep -rq 'rpath' "$scratch"/{deb,rpm}/usr/lib*/pkgconfig/ "$scratch/deb/usr/lib/$arch-linux-gnu/pkgconfig" 2>/dev/null &&
    fail "a package of the system sets a run path"

# The same in all of them, but for where libraries lie.
list() {
    (cd "$1" && find . -type f -o -type l | sed -E "s,^\./lib(64)?(/$arch-linux-gnu)?/,./lib/,; s/\.1\.gz$/.1/; s,/(LICENSE|copyright)$,/LICENSE," |
        grep -v '^./env.sh$' | sort)
}
[ -n "$quick" ] || diff <(list "$scratch/deb/usr") <(list "$scratch/rpm/usr") >&2 || fail "the .deb (<) and the .rpm (>) differ"
diff <(list "$scratch/deb/usr") <(list "$scratch/tgz") >&2 || fail "the .deb (<) and the tarball (>) differ"

# ---- What it says of itself ----

[ "$(dpkg-deb -f "$deb" Depends)" = 'libc6 (>= 2.25)' ] || fail "the .deb depends on $(dpkg-deb -f "$deb" Depends)"
contact=$(sed -n 's/^NPUMEM_PACKAGE_CONTACT:[A-Z]*=//p' "$build/CMakeCache.txt")
[ "$(dpkg-deb -f "$deb" Maintainer)" = "$contact" ] || fail "the .deb names $(dpkg-deb -f "$deb" Maintainer), not $contact"
grep -nE '@(example|localhost)|\.invalid' cmake/NpumemPackages.cmake >&2 && fail "a package is given an address that is nobody's"
[ "$(dpkg-deb -f "$deb" Architecture)" = $debian ] || fail "the .deb is for $(dpkg-deb -f "$deb" Architecture)"
dpkg-deb -f "$deb" Description | awk 'length > 80 { exit 1 } END { exit NR < 3 }' || fail "the .deb's description is not wrapped"
dpkg-deb -c "$deb" | awk '$2 != "root/root"' | grep . && fail "the .deb has files that are not root's"
dpkg-deb --ctrl-tarfile "$deb" | tar xO ./triggers | grep -qx 'activate-noawait ldconfig' || fail "the .deb does not tell ldconfig"
(cd "$scratch/deb" && dpkg-deb --ctrl-tarfile "$deb" | tar xO ./md5sums | md5sum --quiet -c) || fail "the .deb's sums differ"

check_rpm() {
    rpm -qp --requires "$rpm" 2>/dev/null | sed 's/ .*//' |
        grep -vE '^(libc\.so\.6|ld-linux-aarch64\.so\.1|libdl\.so\.2|libpthread\.so\.0|libnpumem\.so\.0|rpmlib|rtld|/bin/sh)\b' |
        grep . && fail "the .rpm asks for more than libc"
    [ "$(rpm -qp --qf '%{NAME} %{ARCH} %{LICENSE}' "$rpm" 2>/dev/null)" = "npumem $arch Apache-2.0" ] || fail "the .rpm's head"
    rpm -qpl "$rpm" 2>/dev/null | grep -xE '/usr(/(bin|include|lib64|share|share/man|share/man/man1|share/doc|lib64/pkgconfig))?' &&
        fail "the .rpm owns folders of others"
    rpm -K --nosignature "$rpm" >/dev/null || fail "the .rpm's sums differ"
}
[ -n "$quick" ] || check_rpm
for program in "$scratch"/*/usr/bin/* "$scratch"/tgz/bin/*; do
    "${emulator[@]}" "$program" --version | grep -q '^npumem' || fail "$program does not run"
done
[ ${#emulator[@]} = 0 ] || finish

# ---- The .deb in a root that has libc and nothing else ----

become_root=()
[ "$(id -u)" = 0 ] || become_root=(-r)
unshare "${become_root[@]}" -m -p -f true 2>/dev/null || {
    [ "$failures" != 0 ] || skip "no root here, and no name space: the .deb was read, not installed"
    finish
}
root=$scratch/root
mkdir -p "$root"/{proc,tmp,dev,work,var/lib/dpkg/{info,updates,triggers}}
chmod 1777 "$root/tmp"
for library in $(ldd "$scratch/deb/usr/bin/npumem-record" | grep -o '/[^ ]* (0x' | sed 's/ (0x//' | sort -u); do
    mkdir -p "$root${library%/*}"
    cp -L "$library" "$root$library"
done

# VERSION: dpkg's book, in which libc6 of this version is all that is there.
say_libc() {
    : >"$root/var/lib/dpkg/available"
    printf 'Package: libc6\nStatus: install ok installed\nArchitecture: %s\nVersion: %s\nMaintainer: nobody\nDescription: libc\n' \
        "$debian" "$1" >"$root/var/lib/dpkg/status"
}
# dpkg as it is on the host; in the root there is no shell that it could run.
install_deb() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare "${become_root[@]}" -m -p -f \
        dpkg --root="$root" --log=/dev/null --force-not-root --no-debsig -i "$deb" >"$scratch/dpkg" 2>&1
}
say_libc 2.24-1
install_deb && fail "dpkg installs it beside a libc that is too old"
grep -q 'depends on libc6 (>= 2.25)' "$scratch/dpkg" || fail "dpkg with an old libc: $(cat "$scratch/dpkg")"
say_libc 2.31-1
install_deb || fail "dpkg does not install it: $(cat "$scratch/dpkg")"

# IN THE ROOT: a command.
inside() {
    env -i PATH=/usr/bin unshare "${become_root[@]}" -m -p -f sh -c 'mount -t proc none "$1/proc" && shift && exec "$@"' \
        sh "$root" "$(command -v chroot)" "$root" "$@"
}
# An author compiles against it. Where the system looks for libraries no run path is needed.
# shellcheck disable=SC2046 # flags are words
"$compiler" -g -o "$root/work/own_pool" "$root/usr/share/doc/npumem/examples/own_pool.c" \
    $(PKG_CONFIG_PATH=$root/usr/lib/$arch-linux-gnu/pkgconfig pkg-config --cflags --libs npumem) || fail "own_pool.c"
inside /usr/bin/npumem-record --required -o /work/run.zst -- /work/own_pool >"$scratch/said" 2>"$scratch/err" ||
    fail "recording in the root: $(cat "$scratch/err")"
inside /usr/bin/npumem-ingest --quiet --site-rules /usr/share/doc/npumem/examples/pool.rules /work/run.zst ||
    fail "ingesting in the root"
[ "$(sqlite3 "$root/work/run.db" "SELECT site, leak_bytes FROM leak_by_site")" = \
    "own_pool.c:138 forget_block|$(sed -n 's/^leaked_bytes //p' "$scratch/said")" ] || fail "the leak is not found in the root"

# Taken out again, it leaves nothing.
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare "${become_root[@]}" -m -p -f \
    dpkg --root="$root" --log=/dev/null --force-not-root --purge npumem >"$scratch/dpkg" 2>&1 || fail "dpkg: $(cat "$scratch/dpkg")"
find "$root" -iname '*npumem*' ! -path '*/work/*' | grep . && fail "something of it stays"
finish
