/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks or processes below each other: how much each took of its device, how it ended, and which failed first. Only where there are several.
 */
import {LEAK, PALETTE} from './colours.mjs';
import {make} from './dom.mjs';
import {formatBytes, formatPercent, formatTime, isKnown} from './format.mjs';
import {makeFilter} from './state.mjs';
import {makeBar, makeTable} from './table.mjs';

function endText(row) {
    if (row.failure)
        return `${row.failure}${isKnown(row.failed_step) ? ` at step ${row.failed_step}` : ''}${row.failure_order === 'first' ? ', first' : row.since_first_ns > 0 ? `, ${formatTime(row.since_first_ns)} later` : ''}`;
    return row.end_kind === 'exit' && row.end_status === 0 ? 'ended by itself' : row.end_kind ?? '';
}

function rankColumns(most) {
    return [
        {title: 'rank', key: 'rank', isNumber: true}, {title: 'host', key: 'host'}, {title: 'pid', key: 'pid', isNumber: true}, {title: 'device', key: 'device', isNumber: true},
        {title: 'peak', key: 'peak_bytes', show: (row) => makeBar((row.peak_bytes ?? 0) / most, formatBytes(row.peak_bytes), PALETTE[0])}, {title: 'of the device', key: 'share_ratio', isNumber: true, show: (row) => formatPercent(row.share_ratio)},
        {title: 'leaked', key: 'leak_bytes', isNumber: true, show: (row) => (row.leak_bytes > 0 ? make('b', {style: `color:${LEAK}`}, formatBytes(row.leak_bytes)) : formatBytes(row.leak_bytes))}, {title: 'end', key: 'failure', show: endText},
    ];
}

export function makeRanks(model, state) {
    const rows = model.rows('rank');
    if (rows.length < 2)
        return null;
    const table = makeTable(rankColumns(Math.max(...rows.map((row) => row.peak_bytes ?? 0), 1)), rows, {caption: 'ranks', onRow: (row) => {
        const heaps = model.heaps.filter((heap) => heap.process_id === row.process_id && heap.usage);
        const best = heaps.find((heap) => heap.level === 'pool') ?? heaps[0];
        if (best)
            state.set({heap: best.heap_id, from: null, to: null, low: null, high: null, block: null});
    }});
    return {id: 'ranks', title: 'Ranks', note: 'click one: the panels above show its memory', uses: ['search'], element: table.element, update: (values) => table.update(makeFilter(values.search))};
}
