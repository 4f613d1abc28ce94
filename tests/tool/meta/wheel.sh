#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# wheel.sh BUILD SCRATCH ARCH COMPILER [LIBASCENDCL]: the wheel that pip makes of this tree, without a network: its tag is true, its
# list of files, too, and it has what the tarball has. With LIBASCENDCL it is installed in an environment of its own, and a script is
# recorded, ingested, asked and reported there. pip builds it whole where NPUMEM_NIGHTLY is set, else of the tests' tarball.
set -u
. "${0%/*}/common.sh"
build=$1 scratch=$2 arch=$3 compiler=$4 runtime=${5:-}
here=$PWD/${0%/*}
choose_packages "$build"

rm -rf "$scratch"
mkdir -p "$scratch"
python=
for candidate in python3 /usr/bin/python3; do # --python: pip 22.3
    "$candidate" -m pip --python "$candidate" --version >/dev/null 2>&1 && python=$candidate && break
done
[ -n "$python" ] || skip "no python3 here with a pip that knows --python"
for library in libsqlite3 libzstd libcsv libdw libelf libz liblzma libbz2; do
    [ -e "$("$compiler" -print-file-name=$library.a)" ] || skip "no $library.a here"
done
offline=(unshare -r -n)
"${offline[@]}" true 2>/dev/null || offline=()
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INDEX=1
unset PYTHONPATH "${!NPUMEM_WHEEL@}"
pip() {
    "$python" -m pip "$@"
}

# ---- Made ----

preset=release
if [ -n "$quick" ]; then
    cmake --build "$build" --target quick_tarball >"$scratch/log" 2>&1 || {
        tail -n 20 "$scratch/log" >&2
        fail "the tarball is not built"
        finish
    }
    export NPUMEM_WHEEL_TARBALL
    NPUMEM_WHEEL_TARBALL=$(echo "$packages"/npumem-*-linux-"$arch".tar.gz)
elif [ "$arch" != "$(uname -m)" ]; then
    preset=$arch
    export NPUMEM_WHEEL_PRESET=$arch
fi
"${offline[@]}" "$python" -m pip wheel -w "$scratch" . >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log" >&2
    fail "pip wheel"
    finish
}
tarball=${NPUMEM_WHEEL_TARBALL:-$(echo build/wheel/"$preset"/npumem-*-linux-"$arch".tar.gz)}
version=$(sed -n 's/^project(npumem VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
wheel=$(echo "$scratch"/*.whl)
[[ ${wheel##*/} =~ ^npumem-$version-py3-none-manylinux_2_([0-9]+)_$arch\.whl$ ]] || {
    fail "the wheel is called ${wheel##*/}"
    finish
}
newest=${BASH_REMATCH[1]}

pip wheel --no-build-isolation --no-deps -w "$scratch/again" . >"$scratch/log" 2>&1 || fail "pip wheel --no-build-isolation: $(tail -n 3 "$scratch/log")"
[ -z "$quick" ] || cmp "$wheel" "$scratch/again/${wheel##*/}" || fail "of one tarball there are two wheels"
pip wheel --no-deps -w "$scratch/none" --config-settings tarball=missing.tar.gz . >"$scratch/log" 2>&1 && fail "a wheel of no tarball"
grep -q 'No such file.*missing.tar.gz' "$scratch/log" || fail "of no tarball pip says: $(tail -n 3 "$scratch/log")"
pip install --target "$scratch/none" --editable . >"$scratch/log" 2>&1 && fail "pip install --editable"
grep -qi 'editable' "$scratch/log" || fail "of --editable pip says: $(tail -n 3 "$scratch/log")"
PYTHONPATH=python/backend "$python" -c 'import npumem_backend; npumem_backend.build_sdist(".")' 2>&1 | grep -q 'no sdist' || fail "an sdist is made"

# ---- What is inside ----

"$python" "$here/wheel.py" "$wheel" "$tarball" "$scratch/files" "$arch" || fail "the wheel is not what it says"
while IFS= read -r file; do
    readelf -h "$file" >/dev/null 2>&1 || continue
    readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|dl|rt|pthread|npumem)\.so\.[0-9]|ld-linux-.*)$' && fail "$file needs that"
    for libc in $(readelf -W --dyn-syms "$file" | grep -oE 'GLIBC_2\.[0-9]+' | sort -u); do
        [ "${libc#GLIBC_2.}" -le "$newest" ] || fail "$file needs $libc, and the wheel says 2.$newest"
    done
done < <(find "$scratch/files" -type f)

mkdir "$scratch/work"
cd "$scratch/work" || exit 1
environment=$scratch/environment
"$python" -m venv --without-pip "$environment" || {
    fail "no environment"
    finish
}
if [ -z "$runtime" ]; then
    pip --python "$environment/bin/python" install "$wheel" >"$scratch/log" 2>&1 && fail "a wheel for $arch is installed on $(uname -m)"
    grep -q 'not a supported wheel' "$scratch/log" || fail "of a wheel for $arch pip says: $(tail -n 1 "$scratch/log")"
    finish
fi

# ---- Installed ----

list_environment() {
    find "$environment" -name __pycache__ -prune -o ! -type d -print | sort
}
list_environment >"$scratch/before"
pip --python "$environment/bin/python" install "$wheel" >"$scratch/log" 2>&1 || {
    fail "pip install: $(tail -n 3 "$scratch/log")"
    finish
}

# 40 steps; each keeps a block of 1 MiB, and gives back one of 2 MiB.
cat >train.py <<'END'
import ctypes, sys
import npumem

acl = ctypes.CDLL(sys.argv[1])
acl.aclrtMalloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
acl.aclrtFree.argtypes = [ctypes.c_void_p]

def take(size):
    block = ctypes.c_void_p()
    assert acl.aclrtMalloc(ctypes.byref(block), size, 0) == 0
    return block

def keep():
    take(1 << 20)

assert npumem.is_recording() and acl.aclInit(None) == 0 and acl.aclrtSetDevice(0) == 0
for number in range(40):
    npumem.step()
    keep()
    assert acl.aclrtFree(take(2 << 20)) == 0
assert npumem.problem() is None
print(sys.executable, sys.argv[2:])
sys.exit(7)
END

# use NAME PYTHON: with this Python, which has npumem, to its answers in NAME.db and NAME.html.
use() {
    local name=$1
    shift
    "$@" -m npumem record -q -o "$name.zst" train.py "$runtime" a -- b >"$name.said" 2>"$name.err"
    [ "$?/$(cat "$name.err")" = 7/ ] || fail "$name: recorded, train.py ends with $? $(cat "$name.err")"
    [ "$(cat "$name.said")" = "$("$@" -c 'import sys; print(sys.executable)') ['a', '--', 'b']" ] || fail "$name: train.py was run as $(cat "$name.said")"
    "$@" -m npumem ingest --quiet "$name.zst" || fail "$name: ingest"
    "$@" - "$name.db" <<'END' >"$name.rows" || fail "$name: npumem.open"
import sys
import npumem

with npumem.open(sys.argv[1]) as run:
    for row in run.findings:
        print(row.finding_id, row.severity, row.kind, row.text, row.site or "", "" if row.bytes is None else row.bytes, sep="|")
    leaks = [row for row in run.findings if row.kind == "leak"]
    assert len(leaks) == 1 and leaks[0].site == "train.py:10 take" and leaks[0].value == 1 << 20, leaks
    assert [row.allocation_count for row in run.view("heap_total") if row.allocation_count] == [80]
    run.report()
END
    diff "$name.rows" <(sqlite3 "$name.db" 'SELECT finding_id, severity, kind, text, site, bytes FROM finding ORDER BY finding_id') >&2 ||
        fail "$name: findings of npumem.py (<) and of sqlite3 (>) differ"
    grep -q '</html>' "$name.html" || fail "$name: no report"
}
use environment env -i PATH=/usr/bin:/bin "$environment/bin/python"
env -i "$environment/bin/npumem" check environment.db --max-leaks 0 >/dev/null 2>&1 && fail "npumem check finds no leak"
[ "$(env -i "$environment/bin/npumem-record" --version)" = "npumem-record $version" ] || fail "npumem-record is not of the wheel"

# The tree moves with its folder where pip is told one.
pip install --target "$scratch/first place" "$wheel" >"$scratch/log" 2>&1 || fail "pip install --target: $(tail -n 3 "$scratch/log")"
mv "$scratch/first place" "$scratch/second"
use folder env -i PATH=/usr/bin:/bin PYTHONPATH="$scratch/second" "$environment/bin/python"

pip --python "$environment/bin/python" uninstall -y npumem >"$scratch/log" 2>&1 || fail "pip uninstall: $(tail -n 3 "$scratch/log")"
list_environment | diff "$scratch/before" - >&2 || fail "pip leaves files of npumem"
finish
