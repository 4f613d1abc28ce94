/* SPDX-License-Identifier: Apache-2.0
 *
 * The map as pixels, without a canvas: a Uint32Array of width x height. Rectangles that cover part of a pixel still show, so that the
 * smallest block can be seen. `view` is {scale, low, high, width, height}: events by the scale, addresses of the axis from low to high.
 */
/* What is painted of a rectangle of the axis, from event to event and from an offset on: [left, right, top, bottom], a pixel each way at least; null: nothing is in view. */
function pixelsOf(view, bornSeq, endedSeq, offset, sizeBytes) {
    if (bornSeq >= view.scale.lastSeq || endedSeq <= view.scale.firstSeq || offset >= view.high || offset + sizeBytes <= view.low)
        return null;
    const perByte = view.height / (view.high - view.low), left = view.scale.toX(Math.max(bornSeq, view.scale.firstSeq)), top = (offset - view.low) * perByte;
    const right = Math.max(Math.ceil(view.scale.toX(Math.min(endedSeq, view.scale.lastSeq))), Math.floor(left) + 1), bottom = Math.max(Math.ceil((offset + sizeBytes - view.low) * perByte), Math.floor(top) + 1);
    return [Math.max(0, Math.floor(left)), Math.min(view.width, right), Math.max(0, Math.floor(top)), Math.min(view.height, bottom)];
}

export function drawRectangle(pixels, view, bornSeq, endedSeq, offset, sizeBytes, colour) {
    const [left, right, top, bottom] = pixelsOf(view, bornSeq, endedSeq, offset, sizeBytes) ?? [0, 0, 0, 0];
    for (let y = top; y < bottom && right > left; y++)
        pixels.fill(colour, y * view.width + left, y * view.width + right);
    return bottom > top && right > left;
}

/* How many pixels lie between a place and what drawRectangle paints; 0: it is painted; Infinity: nothing is. */
export function distanceTo(view, bornSeq, endedSeq, offset, sizeBytes, x, y) {
    const place = pixelsOf(view, bornSeq, endedSeq, offset, sizeBytes);
    if (place === null)
        return Infinity;
    const [left, right, top, bottom] = place, beside = Math.max(0, left - Math.floor(x), Math.floor(x) - (right - 1)), above = Math.max(0, top - Math.floor(y), Math.floor(y) - (bottom - 1));
    return Math.hypot(beside, above);
}

/* Which pixels of a square of `period` pixels of the page have the colour of lines. A line one pixel high still has some of each, but of dots. */
export const TILES = {
    striped: {period: 6, has: (x, y) => (x + y) % 6 < 3}, checked: {period: 10, has: (x, y) => (x < 5) === (y < 5)}, lined: {period: 8, has: (x, y) => (x + 8 - y) % 8 < 2},
    dotted: {period: 8, has: (x, y) => y % 4 === 0 && x === y}, barred: {period: 6, has: (x) => x < 2},
};

/* A pattern as a square of 1 and 0, `size` pixels of the screen each way. */
export function makeTile(name, ratio) {
    const {period, has} = TILES[name], size = Math.max(period, Math.round(period * ratio)), tile = new Uint8Array(size * size), toPage = (place) => Math.floor(place * period / size);
    for (let y = 0, at = 0; y < size; y++)
        for (let x = 0; x < size; x++, at++)
            tile[at] = Number(has(toPage(x), toPage(y)));
    return {size, tile};
}

/* The rows of a pattern, as wide as a picture: nothing is divided for each pixel. */
function wideRows(pattern, width, ratio) {
    const {size, tile} = makeTile(pattern, ratio);
    return Array.from({length: size}, (_, y) => Uint8Array.from({length: width}, (_none, x) => tile[y * size + x % size]));
}

/* Patterns over what has a colour of `patterns`, a Map of colours to {pattern, line: the colour of its lines}. */
export function drawPatterns(pixels, view, patterns, ratio) {
    const {width, height} = view, rows = new Map([...new Set([...patterns.values()].map((one) => one.pattern))].map((name) => [name, wideRows(name, width, ratio)]));
    const known = new Map([...patterns].map(([colour, {pattern, line}]) => [colour, {rows: rows.get(pattern), line}]));
    for (let y = 0, at = 0; y < height; y++) {
        let colour = -1, row = null, line = 0; /* what lies beside each other is often alike */
        for (let x = 0; x < width; x++, at++) {
            if (pixels[at] !== colour) {
                colour = pixels[at];
                const found = known.get(colour);
                row = found === undefined ? null : found.rows[y % found.rows.length];
                line = found === undefined ? 0 : found.line;
            }
            if (row !== null && row[x] === 1)
                pixels[at] = line;
        }
    }
}

/* Cells of decodeCells: each pixel takes the cell that it lies in. pixelOf(site, used) is its colour. */
export function drawCells(pixels, view, cells, pixelOf) {
    const columns = new Int32Array(view.width), perSeq = cells.width / (cells.lastSeq - cells.firstSeq);
    for (let x = 0; x < view.width; x++)
        columns[x] = Math.min(cells.width - 1, Math.max(0, Math.floor((view.scale.toSeq(x + 0.5) - cells.firstSeq) * perSeq)));
    for (let y = 0; y < view.height; y++) {
        const offset = view.low + (y + 0.5) * (view.high - view.low) / view.height;
        const row = Math.min(cells.height - 1, Math.floor(offset / cells.axisBytes * cells.height)) * cells.width;
        let known = -1, colour = 0; /* what lies beside each other is often alike */
        for (let x = 0; x < view.width; x++) {
            const at = row + columns[x], used = cells.used[at];
            if (used === 0)
                continue;
            if (cells.site[at] * 256 + used !== known) {
                known = cells.site[at] * 256 + used;
                colour = pixelOf(cells.site[at], used);
            }
            pixels[y * view.width + x] = colour;
        }
    }
}

/* Where an address lies on the axis of a heap's lanes, which are in order; -1: nowhere. */
export function offsetOf(lanes, address) {
    let low = 0, high = lanes.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (lanes[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low === 0 || address >= lanes[low - 1].address + lanes[low - 1].size_bytes)
        return -1;
    return lanes[low - 1].offset + address - lanes[low - 1].address;
}
