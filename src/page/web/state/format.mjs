/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures as the screen of npumem ingest writes them (base/human.c), so that both can be compared by eye. What is NULL is a dash.
 */
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

export const NOTHING = '\u2013';

export function isKnown(value) {
    return value !== null && value !== undefined && !Number.isNaN(value);
}

export function formatBytes(bytes) {
    if (!isKnown(bytes))
        return NOTHING;
    let value = bytes, unit = 0;
    for (; Math.abs(value) >= 999.5 && unit + 1 < UNITS.length; unit++)
        value /= 1024;
    return `${value.toFixed(unit === 0 || Math.abs(value) >= 99.95 ? 0 : 1)} ${UNITS[unit]}`;
}

export function formatCount(count) {
    return isKnown(count) ? Math.round(count).toString().replace(/\B(?=(\d{3})+$)/g, ',') : NOTHING;
}

export function formatPercent(ratio) {
    if (!isKnown(ratio))
        return NOTHING;
    const percent = ratio * 100;
    return `${percent.toFixed(percent < 9.95 || (percent > 90 && percent < 99.95) ? 1 : 0)} %`;
}

export function formatTime(ns) {
    if (!isKnown(ns))
        return NOTHING;
    const seconds = ns / 1e9;
    if (Math.abs(seconds) < 1)
        return Math.abs(ns) < 1e6 ? `${(ns / 1e3).toFixed(1)} us` : `${(seconds * 1e3).toFixed(1)} ms`;
    if (seconds < 600)
        return `${seconds.toFixed(1)} s`;
    return seconds < 3600 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function formatAddress(address) {
    return isKnown(address) ? `0x${Math.round(address).toString(16)}` : NOTHING;
}
