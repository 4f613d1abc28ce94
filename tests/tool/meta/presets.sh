#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# presets.sh SCRATCH GENERATOR: every preset configures where its compiler is installed, and what CMake 3.22 knows is enough.
set -u
. "${0%/*}/common.sh"
scratch=$1 generator=$2

rm -rf "$scratch"
for preset in $(cmake --list-presets | sed -n 's/^ *"\([a-z0-9]*\)".*/\1/p'); do
    case $preset in
    fuzz) command -v clang >/dev/null || { leave_out "no clang here: preset $preset" && continue; } ;;
    aarch64) command -v aarch64-linux-gnu-gcc >/dev/null && dpkg -s libdw-dev:arm64 >/dev/null 2>&1 ||
        { leave_out "no cross compiler and libraries here: preset $preset" && continue; } ;;
    esac
    echo "$preset"
    cmake --preset "$preset" -G "$generator" -B "$scratch/$preset" >"$scratch.log" 2>&1 || { cat "$scratch.log" >&2; fail "$preset"; }
done
rm -rf "$scratch" "$scratch.log"

grep -q '^cmake_minimum_required(VERSION 3.22)' CMakeLists.txt || fail "CMakeLists.txt asks for another CMake than 3.22"
grep -q '"version": 3,' CMakePresets.json || fail "the presets are not of version 3"
finish
