#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# install.sh BUILD SAMPLE SCRATCH: an installed tree is whole, works wherever it is moved to, and a program of one's own
# compiles against it with pkg-config alone.
set -u
. "${0%/*}/common.sh"
build=$1 sample=$2 scratch=$3
here=$PWD/${0%/*}

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log" 2>&1 || {
    cat "$scratch/install.log" >&2
    fail "cmake --install failed"
    finish
}
# Moved: what still names the first place does not work.
mv "$scratch/first" "$scratch/second"
prefix=$scratch/second
library=$(find "$prefix" -name libnpumem.so -printf '%h\n' | head -n 1)

for file in bin/npumem-record bin/npumem-ingest bin/npumem-check bin/npumem-diff bin/npumem-whatif bin/npumem-stack bin/npumem-export bin/npumem-report bin/npumem-bundle bin/npumem-top bin/npumem-mcp bin/npumem include/npumem.h include/npumem.hpp share/npumem/env.sh \
    share/man/man1/npumem-record.1 share/man/man1/npumem-check.1 share/man/man1/npumem-diff.1 share/man/man1/npumem-whatif.1 \
    share/man/man1/npumem-ingest.1 share/man/man1/npumem.1 share/man/man1/npumem-stack.1 share/man/man1/npumem-export.1 share/man/man1/npumem-report.1 share/man/man1/npumem-bundle.1 share/man/man1/npumem-top.1 share/man/man1/npumem-mcp.1 share/bash-completion/completions/npumem \
    share/zsh/site-functions/_npumem share/fish/vendor_completions.d/npumem.fish share/npumem/queries/largest_live.sql share/npumem/python/npumem.py share/npumem/skill/SKILL.md share/npumem/npumem.findings.schema.json \
    share/bash-completion/completions/npumem-record share/bash-completion/completions/npumem-diff \
    share/zsh/site-functions/_npumem-record share/fish/vendor_completions.d/npumem-record.fish; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done
for package in third_party/*/; do
    [ -s "$(find "$prefix/share/doc" -path "*/${package}LICENSE")" ] || fail "the licence in $package is not installed"
done
for file in libnpumem.so libnpumem_hook.so libnpumem_libascend_kernel_hook.so pkgconfig/npumem.pc; do
    [ -s "$library/$file" ] || fail "$file is not installed"
done
for file in "$prefix"/bin/* "$library"/*.so; do
    if readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -v 'ORIGIN'; then
        fail "$file names a folder of the build"
    fi
done

cd "$scratch" || exit 1
export PATH="$prefix/bin:$PATH"

npumem-record -o sample.zst -- "$sample" --steps 5 >sample.log 2>sample.err || fail "recording the sample: $(cat sample.err)"
npumem ingest --quiet sample.zst || fail "ingesting the sample"
[ "$(sqlite3 sample.db 'SELECT count(*) > 10 FROM allocation')" = 1 ] || fail "the sample left no allocations"
sqlite3 sample.db <"$prefix/share/npumem/queries/largest_live.sql" >largest.txt 2>&1 || fail "an installed query fails"

# shellcheck disable=SC2046 # flags are words
PKG_CONFIG_PATH=$library/pkgconfig cc -Wall -Werror -o own "$here/own_pool.c" \
    $(PKG_CONFIG_PATH=$library/pkgconfig pkg-config --cflags --libs npumem) || fail "own_pool.c does not compile"
./own || fail "unrecorded, own_pool.c ends with $?"

python=$(command -v /usr/bin/python3 || command -v python3) || leave_out "no python3 here"
[ -z "$python" ] || {
    PYTHONPATH=$prefix/share/npumem/python PATH=/usr/bin:/bin "$python" -c \
        'import npumem; npumem.start("python.zst"); npumem.mark("x"); npumem.stop() or exit("not whole")' ||
        fail "npumem.py does not work where it is installed"
    [ -s python.zst ] || fail "npumem.py left no trace"
    [ "$(PYTHONPATH=$prefix/share/npumem/python PATH=/usr/bin:/bin "$python" -m npumem --version)" = "$(npumem --version)" ] ||
        fail "python -m npumem does not find npumem where it is installed"
}

expect_own() {
    local row
    npumem-ingest --quiet --force "$1.zst" || fail "ingesting $1.zst"
    row=$(sqlite3 "$1.db" "SELECT allocation_count, free_count, outstanding_count, outstanding_bytes FROM heap_total
                           WHERE heap = 'own pool'")
    [ "$row" = '10|7|3|3000' ] || fail "$1: heap_total is '$row', not 10|7|3|3000"
}

npumem-record -o own.zst -- ./own 2>own.err || fail "recording own_pool.c: $(cat own.err)"
expect_own own
./own started.zst 2>started.err || fail "recording itself, own_pool.c ends with $?"
expect_own started
finish
