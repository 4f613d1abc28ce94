# SPDX-License-Identifier: Apache-2.0
"""A file of Parquet read slowly, by what parquet.apache.org says of the format, and held to it: every offset, size, count, encoding,
least and greatest value that the file states is compared with what is found. It takes flat tables of OPTIONAL columns alone, INT64,
DOUBLE and BYTE_ARRAY, and shares nothing with what writes them.

    table = parquet_file.read(path)     table.names, table.types, table.rows (tuples), table.facts, table.groups (rows of each)

    parquet_file.py FILE...             prints all texts that are in them, a line each
"""
import ctypes
import math
import struct
import sys

LIB = ctypes.CDLL("libzstd.so.1")
LIB.ZSTD_decompress.restype = ctypes.c_size_t
LIB.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8
INT64, DOUBLE, BYTE_ARRAY = 2, 5, 6


class Fault(Exception):
    pass


def must(condition, text):
    if not condition:
        raise Fault(text)


class Bytes:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        must(self.at + count <= len(self.data), "ends within a value")
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                must(value < 1 << 64, "a varint of more than 64 bits")
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)


def thrift(source, kind=12):
    """A value of the compact protocol: a struct is a dict by number of field."""
    if kind in (1, 2):
        return kind == 1
    if kind == 3:
        return source.take(1)[0]
    if kind in (4, 5, 6):
        return source.zigzag()
    if kind == 7:
        return struct.unpack("<d", source.take(8))[0]
    if kind == 8:
        return source.take(source.varint())
    if kind == 9:
        head = source.take(1)[0]
        count = head >> 4 if head >> 4 < 15 else source.varint()
        return [thrift(source, head & 15) for _ in range(count)]
    must(kind == 12, "type %d of Thrift" % kind)
    fields, number = {}, 0
    while True:
        head = source.take(1)[0]
        if head == 0:
            return fields
        number = number + (head >> 4) if head >> 4 else source.zigzag()
        must(number not in fields, "a field twice")
        fields[number] = thrift(source, head & 15)


def bits(data, width, count):
    whole = int.from_bytes(data, "little")
    return [whole >> index * width & (1 << width) - 1 for index in range(count)]


def runs(source, width, count):
    """RLE and bit-packed values; what stands behind the last one in its eight is dropped, and has to be nothing."""
    values = []
    while len(values) < count:
        head = source.varint()
        if head & 1:
            for _ in range(head >> 1):
                values += bits(source.take(width), width, 8)
        else:
            must(head >> 1 > 0, "a run of nothing")
            values += [int.from_bytes(source.take((width + 7) // 8), "little")] * (head >> 1)
    must(len(values) < count + 8 and not any(values[count:]), "more values than are said")
    return values[:count]


def signed(value):
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def deltas(source):
    block, parts, count, value = source.varint(), source.varint(), source.varint(), source.zigzag()
    must(block % 128 == 0 and block // parts % 32 == 0, "sizes of blocks")
    values = [value] if count else []
    while len(values) < count:
        least = source.zigzag()
        widths = source.take(parts)
        for width in widths:
            if len(values) == count:
                must(width == 0, "a width of no values")
                continue
            for step in bits(source.take(width * (block // parts) // 8), width, block // parts):
                if len(values) < count:
                    values.append(signed(values[-1] + least + step))
    return values


def plain(source, kind, count):
    if kind == BYTE_ARRAY:
        return [source.take(struct.unpack("<I", source.take(4))[0]) for _ in range(count)]
    return [struct.unpack("<q" if kind == INT64 else "<d", source.take(8))[0] for _ in range(count)]


def unpack(header, source):
    raw_len, packed = header[2], source.take(header[3])
    raw = ctypes.create_string_buffer(raw_len + 1)
    must(LIB.ZSTD_decompress(raw, raw_len, packed, len(packed)) == raw_len, "a page of another size")
    return Bytes(raw.raw[:raw_len])


class Chunk:
    """A column of a row group."""

    def __init__(self, data, chunk, kind, name):
        meta = chunk[3]
        must(meta[1] == kind and meta[3] == [name.encode()] and meta[4] == 6, "what a chunk says of itself")
        begin = meta.get(11, meta[9])
        source = Bytes(data, begin)
        self.begin, self.kind, self.values, self.words = begin, kind, [], None
        self.encodings, self.raw_bytes, self.name = {RLE}, 0, name
        self.plain_count = 0
        while source.at < begin + meta[7]:
            self.page(source, meta)
        self.end = source.at
        must(source.at == begin + meta[7], "the size of a chunk")
        must(self.raw_bytes == meta[6], "the raw size of a chunk")
        must(len(self.values) == meta[5], "the number of values")
        must(set(meta[2]) == self.encodings and len(meta[2]) == len(self.encodings), "the encodings of a chunk")
        self.check_range(meta[12])

    def page(self, source, meta):
        at = source.at
        header = thrift(source)
        self.raw_bytes += source.at - at + header[2]
        raw = unpack(header, source)
        if header[1] == 2:
            must(at == meta.get(11) and self.kind == BYTE_ARRAY and header[7][2] == PLAIN, "a dictionary")
            self.words = plain(raw, self.kind, header[7][1])
            must(len(set(self.words)) == len(self.words), "a word twice in a dictionary")
            self.encodings.add(PLAIN)
        else:
            if not self.values:
                must(at == meta[9], "where pages begin")
            must(header[1] == 0 and header[5][3] == header[5][4] == RLE, "a page")
            self.rows(raw, header[5][1], header[5][2])
        must(raw.at == len(raw.data), "bytes behind a page's values")

    def rows(self, raw, count, encoding):
        length = struct.unpack("<I", raw.take(4))[0]
        levels = Bytes(raw.take(length))
        there = runs(levels, 1, count)
        must(levels.at == length, "bytes behind levels")
        needed = sum(there)
        self.encodings.add(encoding)
        if encoding == DICTIONARY:
            width = raw.take(1)[0]
            found = [self.words[number] for number in runs(raw, width, needed)]
        elif encoding == DELTA:
            must(self.kind == INT64, "differences of what are no integers")
            found = deltas(raw)
        else:
            must(encoding == PLAIN, "an encoding")
            found = plain(raw, self.kind, needed)
            self.plain_count += needed
        must(len(found) == needed, "as many values as levels say")
        found = iter(found)
        self.values += [next(found) if is_there else None for is_there in there]

    def check_range(self, said):
        there = [value for value in self.values if value is not None and value == value]
        must(said[3] == len([value for value in self.values if value is None]), "how many are NULL")
        must((5 in said) == (6 in said), "one end of a range")
        if 5 not in said:
            short = there and max(len(min(there)), len(max(there))) <= 64 if self.kind == BYTE_ARRAY else bool(there)
            must(not short or self.plain_count > 0, "no range of " + self.name)
            return
        least, greatest = min(there), max(there)
        if self.kind == BYTE_ARRAY:
            must(said[6] == least and said[5] == greatest, "a range of texts")
        else:
            form = "<q" if self.kind == INT64 else "<d"
            ends = [struct.unpack(form, said[number])[0] for number in (6, 5)]
            must(ends == [least, greatest], "a range of " + self.name)
            if self.kind == DOUBLE:
                must(ends[0] != 0 or math.copysign(1, ends[0]) < 0, "a least zero is -0")
                must(ends[1] != 0 or math.copysign(1, ends[1]) > 0, "a greatest zero is 0")


class Table:
    def __init__(self, data):
        must(data[:4] == data[-4:] == b"PAR1", "no file of Parquet")
        length = struct.unpack("<I", data[-8:-4])[0]
        source = Bytes(data[: len(data) - 8], len(data) - 8 - length)
        meta = thrift(source)
        must(source.at == len(data) - 8, "bytes behind the footer")
        root, *elements = meta[2]
        must(root[5] == len(elements), "how many columns there are")
        self.names = [element[4].decode() for element in elements]
        self.types = [element[1] for element in elements]
        for element in elements:
            must(element[3] == 1, "a column is OPTIONAL")
            must((element.get(6), element.get(10)) == ((0, {1: {}}) if element[1] == BYTE_ARRAY else (None, None)), "a text")
        must(meta[7] == [{1: {}}] * len(elements), "the order of each column")
        self.facts = {fact[1].decode(): fact[2].decode() for fact in meta[5]}
        self.made_by = meta[6].decode()
        self.rows, self.groups, at = [], [], 4
        for group in meta[4]:
            chunks = [Chunk(data, chunk, kind, name) for chunk, kind, name in zip(group[1], self.types, self.names)]
            must(len(group[1]) == len(elements), "columns of a row group")
            for chunk in chunks:
                must(chunk.begin == at, "bytes between chunks")
                at = chunk.end
            must(sum(chunk.raw_bytes for chunk in chunks) == group[2], "the size of a row group")
            must(all(len(chunk.values) == group[3] for chunk in chunks), "rows of a row group")
            self.groups.append(group[3])
            self.rows += zip(*[chunk.values for chunk in chunks])
        must(at == len(data) - 8 - length, "bytes before the footer")
        must(meta[3] == len(self.rows), "how many rows there are")


def read(path):
    with open(path, "rb") as file:
        return Table(file.read())


def as_utf8(text):
    """What a text is to be in a file: U+FFFD for each byte that is no part of a character, found byte by byte."""
    out, at = "", 0
    while at < len(text):
        for length in (1, 2, 3, 4):
            try:
                out += text[at : at + length].decode()
                break
            except UnicodeDecodeError:
                pass
        else:
            out, length = out + "\ufffd", 1
        at += length
    return out


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for row in read(name).rows:
            for value in row:
                if isinstance(value, bytes):
                    print(as_utf8(value))
