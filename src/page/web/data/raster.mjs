/* SPDX-License-Identifier: Apache-2.0
 *
 * The map as pixels, without a canvas: a Uint32Array of width x height. Rectangles that cover part of a pixel still show, so that the
 * smallest block can be seen. `view` is {scale, low, high, width, height}: events by the scale, addresses of the axis from low to high.
 */
export function fillPixels(pixels, view, left, right, top, bottom, colour) {
    const x0 = Math.max(0, Math.floor(left)), x1 = Math.min(view.width, Math.max(Math.ceil(right), Math.floor(left) + 1));
    const y0 = Math.max(0, Math.floor(top)), y1 = Math.min(view.height, Math.max(Math.ceil(bottom), Math.floor(top) + 1));
    for (let y = y0; y < y1 && x1 > x0; y++)
        pixels.fill(colour, y * view.width + x0, y * view.width + x1);
}

/* A rectangle of the axis: from event to event, from an offset on. */
export function drawRectangle(pixels, view, bornSeq, endedSeq, offset, sizeBytes, colour) {
    if (bornSeq >= view.scale.lastSeq || endedSeq <= view.scale.firstSeq || offset >= view.high || offset + sizeBytes <= view.low)
        return false;
    const perByte = view.height / (view.high - view.low);
    fillPixels(pixels, view, view.scale.toX(Math.max(bornSeq, view.scale.firstSeq)), view.scale.toX(Math.min(endedSeq, view.scale.lastSeq)),
               (offset - view.low) * perByte, (offset + sizeBytes - view.low) * perByte, colour);
    return true;
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
