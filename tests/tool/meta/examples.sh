#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# examples.sh BUILD SCRATCH: an author walks through examples/ as they are installed: the commands in the first comment of
# each work as they stand there, and what the views say is what the program counted itself. The shell knows the installed
# tree by its env.sh alone; then by pkg-config's run path alone.
set -u
. "${0%/*}/common.sh"
build=$1 scratch=$2

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log" 2>&1 || fail "cmake --install failed"
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix
examples=$(find "$prefix" -path '*/examples/own_pool.c' -printf '%h\n')
[ -n "$examples" ] || { fail "the examples are not installed" && finish; }

# FILE: the commands in its first comment, without the lines that the shell's environment makes needless.
commands_of() {
    sed -n '/^ \*\/$/q; /^import/q; s/^ \*     //p; s/^    //p' "$1" | grep -E '^(cc|c\+\+|npumem) '
}

# FILE COMMAND: runs COMMAND where the examples are, as a user with env.sh does.
as_user() {
    (cd "$1" && env -i HOME="$HOME" PATH=/usr/local/bin:/usr/bin:/bin bash -uec ". $prefix/share/npumem/env.sh; $2")
}

value_of() {
    sed -n "s/^$1 //p" "$2"
}

# FOLDER: what the program printed against what the views say.
compare() {
    local said=$1/said db=$1/run.db seen
    seen=$(sqlite3 "$db" "
        SELECT 'requests ' || allocation_count || ' hits ' || hit_count FROM pool_hit_rate
        WHERE heap = 'my pool' AND bucket = 'all';
        SELECT 'live_bytes ' || outstanding_bytes FROM heap_total WHERE heap = 'my pool';
        SELECT 'peak_bytes ' || peak_bytes FROM peak WHERE heap = 'my pool';
        SELECT 'leaked_blocks ' || sum(leak_count) || ' leaked_bytes ' || sum(leak_bytes) || ' ' || min(verdict) || ' '
            || count(*) || ' ' || (min(site) LIKE 'own_pool.%:% forget_block%') FROM leak_by_site;
        SELECT 'steps ' || count(*) FROM step;
        SELECT 'mark ' || name FROM moment WHERE name = 'loaded';
        SELECT 'weights ' || live_bytes FROM peak_by_site WHERE site LIKE '%load_weight%' AND heap = 'my pool';")
    diff - <(printf '%s\n' "$seen") <<END || fail "$1: what was counted (<) and what the views say (>) differ"
requests $(value_of requests "$said") hits $(value_of hits "$said")
live_bytes $(value_of live_bytes "$said")
peak_bytes $(value_of peak_bytes "$said")
leaked_blocks $(value_of leaked_blocks "$said") leaked_bytes $(value_of leaked_bytes "$said") growing 1 1
steps 40
mark loaded
weights 615000
END
}

for language in c cpp py; do
    case $language in
    cpp) command -v c++ >/dev/null || { leave_out "no c++ here" && continue; } ;;
    py) [ -x /usr/bin/python3 ] || [ -x /usr/local/bin/python3 ] || { leave_out "no python3 here" && continue; } ;;
    esac
    folder=$scratch/$language
    cp -r "$examples" "$folder"
    commands=$(commands_of "$folder/own_pool.$language" | sed 's/^\(npumem record .*\)/\1 >said/')
    [ "$(grep -c "^npumem " <<<"$commands")" -ge 2 ] || fail "own_pool.$language does not say how to use it"
    as_user "$folder" "$commands" >"$scratch/$language.out" 2>&1 || fail "own_pool.$language: $(cat "$scratch/$language.out")"
    [ "$(wc -l <"$folder/own_pool.$language")" -le 200 ] || fail "own_pool.$language has more than 200 lines"
    compare "$folder"
done

# Alone it does the same, and by the run path it finds its library without being told where.
for language in c cpp; do
    [ -x "$scratch/$language/own_pool" ] || continue
    env -i "$scratch/$language/own_pool" | cmp - "$scratch/$language/said" || fail "own_pool.$language unrecorded differs"
done
# Each reason for which a program cannot be recorded has its own sentence, and says what to do.
expect_unseen() {
    local sentence=$1
    shift
    env -i PATH=/usr/bin:/bin "$prefix/bin/npumem-record" --force -o "$scratch/unseen.zst" -- "$@" >"$scratch/unseen" 2>&1
    grep -q 'no process loaded the recorder, ' "$scratch/unseen" && grep -qF "npumem-record: $1 $sentence" "$scratch/unseen" ||
        fail "$*: not '$sentence' but $(cat "$scratch/unseen")"
}

# Not libnpumem.so.0 itself, which the loader finds where npumem's package is installed.
library=$(find "$prefix" -name libnpumem.so -printf '%h\n')
cc -shared -o "$scratch/libnpumem_lost.so" -x c /dev/null &&
    cc -I "$prefix/include" -o "$scratch/lost" "$examples/own_pool.c" -L "$library" "-Wl,-rpath,$library,--no-as-needed" -lnpumem \
        -L "$scratch" -lnpumem_lost || fail "own_pool.c: without a run path"
expect_unseen 'did not begin: the loader did not find a library that it needs' "$scratch/lost"
grep -q 'libnpumem_lost.so: cannot open shared object file' "$scratch/unseen" || fail "the loader's line is lost: $(cat "$scratch/unseen")"
echo 'int main(void) { return 127; }' >"$scratch/static.c"
cc -static -o "$scratch/static" "$scratch/static.c" && {
    expect_unseen 'is static, so that nothing can be loaded into it: link it without -static' "$scratch/static"
    printf '#!%s\n' "$scratch/static" >"$scratch/script"
    chmod +x "$scratch/script"
    expect_unseen 'is static' "$scratch/script"
}
[ ! -d "$scratch/py" ] || {
    mkdir "$scratch/alone"
    cp "$examples/own_pool.py" "$prefix/share/npumem/python/npumem.py" "$scratch/alone"
    env -i PATH=/usr/bin:/bin python3 "$scratch/alone/own_pool.py" | cmp - "$scratch/py/said" ||
        fail "own_pool.py differs where npumem is not installed"
}

# env.sh: read twice, from a folder with a blank, by shells that can say where it lies and by one that is told.
blank="$scratch/with blank"
mv "$prefix" "$blank"
shown='echo "$PATH|$LD_LIBRARY_PATH|$PKG_CONFIG_PATH|$PYTHONPATH|$MANPATH"'
library=$(cd "$blank" && find . -name libnpumem.so -printf '%h\n')
library=$blank/${library#./}
want="$blank/bin:/usr/bin:/bin|$library|$library/pkgconfig|$blank/share/npumem/python|$blank/share/man:"
for shell in bash zsh dash; do
    command -v "$shell" >/dev/null || { leave_out "no $shell here: it does not read env.sh" && continue; }
    told=
    [ "$shell" != dash ] || told="NPUMEM_PREFIX='$blank'; "
    got=$(cd "$blank/share" && env -i PATH=/usr/bin:/bin "$(command -v "$shell")" -uc "${told}. ./npumem/env.sh; . '$blank/share/npumem/env.sh'; $shown")
    [ "$got" = "$want" ] || fail "$shell: env.sh gives $got, not $want"
done
env -i PATH=/usr/bin:/bin MANPATH=/a PYTHONPATH=/b bash -c "cd '$blank/share/npumem'; . env.sh; $shown" |
    grep -qF "|$blank/share/npumem/python:/b|$blank/share/man:/a" || fail "env.sh forgets what was there"
env -i PATH=/usr/bin:/bin sh -c ". '$blank/share/npumem/env.sh'" 2>&1 | grep -q 'NPUMEM_PREFIX=FOLDER says' ||
    [ -n "$(sh -c 'echo "${BASH_VERSION:-}"')" ] || fail "env.sh says nothing where it cannot know its place"
finish
