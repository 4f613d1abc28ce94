/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw deflate (RFC 1951) for browsers whose DecompressionStream does not know it. A tree is two arrays, as in zlib's puff: how many codes
 * there are of each length, and the symbols in the order of their codes.
 */
const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const REACH_BASE = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const REACH_EXTRA = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const LENGTHS_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

function takeBits(stream, count) {
    while (stream.bitCount < count) {
        if (stream.at >= stream.bytes.length)
            throw new Error('the data end too soon');
        stream.bits |= stream.bytes[stream.at++] << stream.bitCount;
        stream.bitCount += 8;
    }
    const value = stream.bits & ((1 << count) - 1);
    stream.bits >>>= count;
    stream.bitCount -= count;
    return value;
}

function makeCodes(lengths) {
    const counts = new Uint16Array(16), offsets = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
    for (const length of lengths)
        counts[length]++;
    counts[0] = 0;
    for (let length = 1; length < 15; length++)
        offsets[length + 1] = offsets[length] + counts[length];
    lengths.forEach((length, symbol) => {
        if (length > 0)
            symbols[offsets[length]++] = symbol;
    });
    return {counts, symbols};
}

function takeSymbol(stream, tree) {
    let code = 0, first = 0, index = 0;
    for (let length = 1; length < 16; length++) {
        code |= takeBits(stream, 1);
        const count = tree.counts[length];
        if (code - count < first)
            return tree.symbols[index + code - first];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    throw new Error('the data hold no such code');
}

function fixedTrees() {
    const lengths = Array.from({length: 288}, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8));
    return {literals: makeCodes(lengths), reaches: makeCodes(new Array(30).fill(5))};
}

function takeLengths(stream, tree, count) {
    const lengths = [];
    while (lengths.length < count) {
        const symbol = takeSymbol(stream, tree);
        if (symbol < 16)
            lengths.push(symbol);
        else {
            const value = symbol === 16 ? lengths[lengths.length - 1] : 0;
            let times = symbol === 16 ? 3 + takeBits(stream, 2) : symbol === 17 ? 3 + takeBits(stream, 3) : 11 + takeBits(stream, 7);
            for (; times > 0; times--)
                lengths.push(value);
        }
    }
    return lengths;
}

function ownTrees(stream) {
    const literalCount = takeBits(stream, 5) + 257, reachCount = takeBits(stream, 5) + 1, codeCount = takeBits(stream, 4) + 4;
    const codeLengths = new Array(19).fill(0);
    for (let i = 0; i < codeCount; i++)
        codeLengths[LENGTHS_ORDER[i]] = takeBits(stream, 3);
    const lengths = takeLengths(stream, makeCodes(codeLengths), literalCount + reachCount);
    return {literals: makeCodes(lengths.slice(0, literalCount)), reaches: makeCodes(lengths.slice(literalCount))};
}

function makeSink() {
    return {bytes: new Uint8Array(65536), length: 0};
}

function makeRoom(sink, count) {
    if (sink.length + count <= sink.bytes.length)
        return;
    const larger = new Uint8Array(Math.max(2 * sink.bytes.length, sink.length + count));
    larger.set(sink.bytes.subarray(0, sink.length));
    sink.bytes = larger;
}

function copyBack(stream, trees, symbol, sink) {
    const length = LENGTH_BASE[symbol] + takeBits(stream, LENGTH_EXTRA[symbol]);
    const far = takeSymbol(stream, trees.reaches);
    const reach = REACH_BASE[far] + takeBits(stream, REACH_EXTRA[far]);
    if (reach > sink.length)
        throw new Error('the data point before their beginning');
    makeRoom(sink, length);
    for (let i = 0; i < length; i++, sink.length++)
        sink.bytes[sink.length] = sink.bytes[sink.length - reach];
}

function takeCoded(stream, trees, sink) {
    for (let symbol = takeSymbol(stream, trees.literals); symbol !== 256; symbol = takeSymbol(stream, trees.literals))
        if (symbol < 256) {
            makeRoom(sink, 1);
            sink.bytes[sink.length++] = symbol;
        } else
            copyBack(stream, trees, symbol - 257, sink);
}

function takeStored(stream, sink) {
    stream.bits = stream.bitCount = 0;
    const length = stream.bytes[stream.at] | stream.bytes[stream.at + 1] << 8;
    stream.at += 4;
    makeRoom(sink, length);
    sink.bytes.set(stream.bytes.subarray(stream.at, stream.at + length), sink.length);
    stream.at += length;
    sink.length += length;
}

export function inflate(bytes) {
    const stream = {bytes, at: 0, bits: 0, bitCount: 0}, sink = makeSink();
    for (let isLast = false; !isLast;) {
        isLast = takeBits(stream, 1) === 1;
        const kind = takeBits(stream, 2);
        if (kind === 0)
            takeStored(stream, sink);
        else
            takeCoded(stream, kind === 1 ? fixedTrees() : ownTrees(stream), sink);
    }
    return sink.bytes.slice(0, sink.length);
}
