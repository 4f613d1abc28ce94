#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a recorded program gets into its process: the libraries need libc alone, in a version that the oldest hosts have,
# and export what they must and nothing else.
#
#     libraries.sh FOLDER_OF_THE_LIBRARIES
set -u
. "${0%/*}/common.sh"

folder=${1:?}
command -v readelf >/dev/null || skip "no readelf here"

# Ubuntu 18.04 has glibc 2.27, openEuler 20.03 and RHEL 8 have 2.28; what is used here is older than all of them.
allowed_versions='GLIBC_2.2.5 GLIBC_2.3.2 GLIBC_2.3.4 GLIBC_2.4 GLIBC_2.14 GLIBC_2.16 GLIBC_2.17'

sdk=$(sed -n 's/^NPUMEM_API .*\b\(npumem_[a-z_]*\)(.*/\1/p' src/npumem.h)
private=$(sed -n 's/^NM_RECORD_API .*\b\(nm_record_[a-z_]*\)(.*/\1/p' src/record/record.h)
hooked=$(sed -n -e '/define NM_USED_FUNCTIONS/,/^$/d' -e 's/^\(    \|#define NM_[A-Z_]*(X) \)X(\(acl[A-Za-z0-9]*\|hal[A-Za-z0-9]*\|Hccl[A-Za-z0-9]*\), .*/\2/p' src/hook/runtime.h)

hook_libraries='libnpumem_hook.so libnpumem_libascend_kernel_hook.so'

# Name of each function or object that FILE defines for others, without its version.
exported() {
    readelf --dyn-syms --wide "$1" | awk '$7 != "UND" && $7 != "ABS" && ($4 == "FUNC" || $4 == "OBJECT") && $5 != "LOCAL" { print $8 }' |
        sed 's/@.*//' | sort -u
}

check_library() {
    local file=$1 name=${1##*/} wanted=$2 needed=$3 version

    [ -f "$file" ] || { fail "$file is not there"; return; }
    diff <(printf '%s\n' $wanted | sort -u) <(exported "$file") >&2 || fail "$name exports other names (< wanted, > has)"
    diff <(printf '%s\n' $needed | sort) <(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort) >&2 ||
        fail "$name needs other libraries"
    for version in $(readelf --version-info --wide "$file" | grep -o 'GLIBC_[0-9.]*' | sort -u); do
        case " $allowed_versions " in
        *" $version "*) ;;
        *) fail "$name needs $version" ;;
        esac
    done
    # A setuid program's environment is its caller's.
    readelf --dyn-syms --wide "$file" | grep -q 'UND getenv' && fail "$name uses getenv, not secure_getenv"
    readelf -d "$file" | grep -q 'FLAGS_1.*NOW.*NODELETE\|FLAGS_1.*NODELETE.*NOW' ||
        fail "$name is bound late or may be unloaded"
    readelf -d "$file" | grep -q TEXTREL && fail "$name has text relocations"
    readelf -lW "$file" | grep -q 'GNU_STACK.*RWE' && fail "$name wants an executable stack"
}

check_library "$folder/libnpumem.so.0" "$sdk $private" 'libc.so.6'
for library in $hook_libraries; do
    check_library "$folder/$library" "$hooked InitInjectionMstx _exit _Exit dlclose dlopen dlsym execl execle execlp execv execve execveat execvp execvpe fexecve posix_spawn posix_spawnp" 'libc.so.6 libnpumem.so.0'
done

# The SDK's names are of one version, those for the hooks of another: a program can link the first alone by name.
for name in $private; do
    readelf --dyn-syms --wide "$folder/libnpumem.so.0" | grep -q " $name@@NPUMEM_PRIVATE_" || fail "$name is public"
done

# The hook library finds its sister beside itself, and nothing anywhere else. Under either name it is a file of its own:
# torch_npu looks at the name that a link leads to.
for library in $hook_libraries; do
    readelf -d "$folder/$library" | grep -q 'RUNPATH.*\[$ORIGIN\]' || fail "the run path of $library is not \$ORIGIN alone"
    readelf -d "$folder/$library" | grep -q "SONAME.*\[$library\]" || fail "$library goes by another name"
    [ ! -L "$folder/$library" ] || fail "$library is a link"
done

# Thread-local storage that a preload can always have: part of the static block, a few words.
readelf -rW "$folder/libnpumem.so.0" | grep -qE "TLSDESC|DTPMOD" && fail "thread-local storage is made at first use"
tls_bytes=$(readelf -lW "$folder/libnpumem.so.0" | awk '$1 == "TLS" { print $6 }')
tls_bytes=$((${tls_bytes:-0}))
[ "$tls_bytes" -gt 0 ] && [ "$tls_bytes" -le 96 ] || fail "thread-local storage has $tls_bytes bytes"
readelf -lW "$folder/libnpumem_libascend_kernel_hook.so" | grep -q '^ *TLS' && fail "the hook library has thread-local storage"
finish
