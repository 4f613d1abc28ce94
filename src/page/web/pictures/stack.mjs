/* SPDX-License-Identifier: Apache-2.0
 *
 * A call stack as a list, the innermost frame first; plumbing (allocators, frameworks) is there, but steps back.
 */
import {make} from './dom.mjs';
import {say} from '../state/words.mjs';

export function makeStack(model, stackId) {
    if (stackId === null || Number.isNaN(stackId))
        return make('p', {class: 'note'}, say('No stack was recorded.'));
    const site = model.stacks.siteOf(stackId), frames = model.stacks.walk(stackId);
    const lines = frames.map((frame) => make('li', {class: frame.label === site ? 'site' : frame.isPlumbing ? 'plumbing' : null}, frame.label));
    return make('ol', {class: 'stack', 'aria-label': say('call stack, innermost first')}, lines);
}
