# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by demo.sh and test.sh: the one list of packages, and how what is missing of it gets installed. On Debian and
# Ubuntu what is missing is installed (sudo only if not root); elsewhere the command to run is printed. Nothing that is
# there already is touched, and with everything there no package manager runs. Wants `set -o pipefail`.

# Debian and Ubuntu    RHEL, openEuler, Fedora
npumem_packages='
gcc                    gcc
g++                    gcc-c++
libc6-dev              glibc-devel
binutils               binutils
make                   make
ninja-build            ninja-build
cmake                  cmake
pkg-config             pkgconfig
libsqlite3-dev         sqlite-devel
sqlite3                sqlite
libzstd-dev            libzstd-devel
zstd                   zstd
libcsv-dev             libcsv-devel
libdw-dev              elfutils-devel
zlib1g-dev             zlib-devel
liblzma-dev            xz-devel
libbz2-dev             bzip2-devel
check                  check-devel
clang-format           clang-tools-extra
universal-ctags        ctags
rpm                    rpm-build
cpio                   cpio
gzip                   gzip
strace                 strace
protobuf-compiler      protobuf-compiler
libxml2-utils          libxml2
librsvg2-bin           librsvg2-tools
'

# What tests alone need. Where one of these cannot be had, what needs it is skipped, and that is said. The program that is looked for,
# or several of which one is enough, and its package on Debian and Ubuntu, and on RHEL, openEuler, Fedora. Chromium without windows: a
# page takes half the time in it.
npumem_test_packages='
python3                python3                python3
python3-config         python3-dev            python3-devel
pip3                   python3-pip            python3-pip
clang                  clang                  clang
valgrind               valgrind               valgrind
groff                  groff-base             groff-base
node                   nodejs                 nodejs
npm                    npm                    npm
chromium-headless-shell|chromium chromium-headless-shell chromium
firefox-esr            firefox-esr            firefox
go                     golang-go              golang
zsh                    zsh                    zsh
fish                   fish                   fish
curl                   curl                   curl
'

# For tests of pages, of exports, of JSON, of npumem mcp and of a fleet, from npm: what drives browsers, a validator of JSON Schema, the protocol's
# own clients, and ClickHouse and DuckDB as libraries for one kind of machine. The newest that run on Node.js 18, which Debian 12 has; but
# for that of conformance, whose part of a test is skipped there.
npumem_node_modules='
playwright-core        1.61.0
axe-core               4.14.1
ws                     8.23.0
ajv                    8.20.0
@modelcontextprotocol/sdk 1.32.2
@modelcontextprotocol/client 2.4.0
@modelcontextprotocol/conformance 0.1.13
@duckdb/node-bindings-linux-x64 1.5.6-r.1 x86_64
@duckdb/node-bindings-linux-arm64 1.5.6-r.1 aarch64
@chdb/lib-linux-x64-gnu 26.7.3-stable.1 x86_64
'

# For ./test.sh --aarch64, Debian and Ubuntu only.
npumem_aarch64_packages='
gcc-aarch64-linux-gnu
qemu-user
libc6-dev:arm64
libsqlite3-dev:arm64
libzstd-dev:arm64
libcsv-dev:arm64
libdw-dev:arm64
zlib1g-dev:arm64
libbz2-dev:arm64
check:arm64
libstdc++6:arm64
'

say() {
    printf '== %s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "not root and no sudo here; as root, run: $*"
    fi
}

# is_installed NAME [NAME]: any of these names is.
is_installed() {
    local name
    for name in "$@"; do
        case $(dpkg-query -W -f='${Status}' "$name" 2>/dev/null) in
        *' installed') return 0 ;;
        esac
    done
    return 1
}

# missing_debian NAME...: those that are not installed. Where a package is there for two architectures, dpkg wants to
# hear which is meant.
missing_debian() {
    local name host
    host=$(dpkg --print-architecture)
    for name in "$@"; do
        is_installed "$name" "$name:$host" || printf '%s ' "$name"
    done
}

missing_rpm() {
    local name
    for name in "$@"; do
        rpm -q --quiet --whatprovides "$name" || printf '%s ' "$name"
    done
}

install_debian() {
    local missing
    missing=$(missing_debian "$@")
    [ -n "$missing" ] || return 0
    say "installing missing packages: $missing"
    [ -n "${is_apt_fresh:-}" ] || as_root apt-get update -q || die "apt-get update failed"
    is_apt_fresh=yes
    # shellcheck disable=SC2086 # a list of words
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=120 $missing || die "apt-get could not install: $missing"
}

setup_packages() {
    local missing
    # shellcheck disable=SC2046 # lists of words
    if command -v apt-get >/dev/null; then
        install_debian $(printf '%s' "$npumem_packages" | awk '{print $1}')
    elif command -v rpm >/dev/null; then
        missing=$(missing_rpm $(printf '%s' "$npumem_packages" | awk '{print $2}'))
        [ -z "$missing" ] || die "packages are missing; as root, run: dnf install $missing"
    else
        say "no apt-get and no rpm here; needed are, by their Debian names:" \
            $(printf '%s' "$npumem_packages" | awk '{print $1}')
    fi
}

# What is missing is installed at once; where that fails, one by one, and what is missing then is said.
setup_test_packages() {
    local program debian rpm names
    # shellcheck disable=SC2086 # lists of words
    names=$(while read -r program debian rpm; do command -v ${program//|/ } >/dev/null || echo "$debian"; done <<<"$npumem_test_packages")
    if [ -n "$names" ] && command -v apt-get >/dev/null; then
        # shellcheck disable=SC2086 # a list of words
        (install_debian $names) || for debian in $names; do (install_debian "$debian") || true; done
    fi
    # Libraries: other stacks to compare ours with, and clang's fuzzer, which it only recommends.
    command -v apt-get >/dev/null && for debian in libunwind8 libclang-rt-dev; do (install_debian "$debian") || true; done
    # shellcheck disable=SC2086 # lists of words
    names=$(while read -r program debian rpm; do command -v ${program//|/ } >/dev/null || printf ' %s' "$rpm"; done <<<"$npumem_test_packages")
    [ -z "$names" ] || say "tests are skipped, in whole or in part, that need one of:$names"
}

# What tests need of npm, into build/node. All at once: npm removes what it is not told of.
setup_browser() {
    local module version machine all='' is_missing=
    command -v apt-get >/dev/null && { (install_debian fonts-wqy-zenhei) || true; } # for pictures of pages in Chinese
    command -v npm >/dev/null || return 0
    while read -r module version machine; do
        [ -n "$module" ] && [ "${machine:-$(uname -m)}" = "$(uname -m)" ] || continue
        all="$all $module@$version"
        grep -qs "\"version\": \"$version\"" "build/node/node_modules/$module/package.json" || is_missing=yes
    done <<<"$npumem_node_modules"
    # shellcheck disable=SC2086 # a list of words
    [ -z "$is_missing" ] || install_modules $all && return 0
    local kept='' # npm gives all or none: one by one what it has
    for module in $all; do
        # shellcheck disable=SC2086 # a list of words
        if install_modules $kept "$module"; then kept="$kept $module"; else say "npm does not give $module: tests that need it are skipped"; fi
    done
}

install_modules() {
    npm install --prefix build/node --no-save --no-audit --no-fund --silent "$@" >/dev/null 2>&1
}

setup_aarch64_packages() {
    [ "$(uname -m)" = x86_64 ] || die "--aarch64 cross-builds on x86-64; on this machine ./test.sh tests $(uname -m)"
    command -v apt-get >/dev/null || die "--aarch64 needs Debian or Ubuntu: it installs arm64 packages beside the host's"
    if ! dpkg --print-foreign-architectures | grep -qx arm64; then
        say "adding the architecture arm64 to dpkg"
        as_root dpkg --add-architecture arm64
    fi
    # shellcheck disable=SC2086 # a list of words
    install_debian $npumem_aarch64_packages
}

# configure PRESET [OPTION...]: quiet unless it fails. A new folder is built by Ninja, which starts fewer processes than make; one
# that is there stays as it is.
configure() {
    local log=build/$1/configure.log generator=()
    [ -f "build/$1/CMakeCache.txt" ] || ! command -v ninja >/dev/null || generator=(-G Ninja)
    mkdir -p "build/$1"
    if ! cmake --preset "$@" "${generator[@]}" >"$log" 2>&1; then
        cat "$log" >&2
        die "cmake --preset $* failed"
    fi
}

# build PRESET [TARGET...]: all targets where none is named. Says what it compiles, and nothing on a second run.
build() {
    local preset=$1
    shift
    cmake --build "build/$preset" -j"$(nproc)" ${1:+--target "$@"} | { grep -v 'Built target' || true; } ||
        die "the build failed"
}

# list_skipped LOG: what tests left out on this machine, a line for each test and reason, from a log of CTest. A test that leaves out
# something, or all, prints "skipped: " and why.
list_skipped() {
    awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
        /^skipped: / && !seen[test, $0]++ { print "skipped: " test ": " substr($0, 10) }' "$1"
}
