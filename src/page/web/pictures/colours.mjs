/* SPDX-License-Identifier: Apache-2.0
 *
 * Which colour stands for what: the largest sites of a heap have one each, the rest share a grey, and red is a leak's alone.
 */
export const PALETTE = ['#4e79a7', '#59a14f', '#e0912f', '#9467bd', '#3aa6a0', '#c2a12a', '#8c6d53', '#6b8fd6', '#d27ba8', '#7f9a2e'];
export const LEAK = '#e02b3c';
export const REST = '#8d98a8';

/* Of names in the order of their weight. */
export function assignColours(names, leaks) {
    const colours = new Map();
    let next = 0;
    for (const name of names)
        if (leaks.has(name))
            colours.set(name, LEAK);
        else if (!colours.has(name) && next < PALETTE.length)
            colours.set(name, PALETTE[next++]);
    return {of: (name) => (leaks.has(name) ? LEAK : colours.get(name) ?? REST)};
}

/* '#rrggbb' as [r, g, b] */
export function partsOf(colour) {
    const value = parseInt(colour.slice(1), 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
}

/* A pixel of ImageData's bytes read as one number (little-endian): `share` of a colour over another. */
export function mixPixel(over, under, share) {
    const mix = (i) => Math.round(under[i] + (over[i] - under[i]) * share);
    return (255 << 24 | mix(2) << 16 | mix(1) << 8 | mix(0)) >>> 0;
}
