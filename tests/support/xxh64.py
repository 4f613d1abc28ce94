# SPDX-License-Identifier: Apache-2.0
"""XXH64 with seed 0, by its specification, slowly."""
import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotate(value, bits):
    return (value << bits | value >> 64 - bits) & MASK


def mix(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    at = 0
    if len(data) >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while at + 32 <= len(data):
            lanes = [mix(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        value = P5
    value = (value + len(data)) & MASK
    while at + 8 <= len(data):
        value = (rotate(value ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= len(data):
        value = (rotate(value ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        value = rotate(value ^ byte * P5 & MASK, 11) * P1 & MASK
    value = (value ^ value >> 33) * P2 & MASK
    value = (value ^ value >> 29) * P3 & MASK
    return value ^ value >> 32
