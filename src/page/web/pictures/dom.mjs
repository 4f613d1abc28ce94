/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of the page. What is foreign gets into it as text alone, and safe to look at: nothing here takes markup.
 */
import {LINES, shown} from '../state/shown.mjs';
import {say} from '../state/words.mjs';

export const SVG = 'http://www.w3.org/2000/svg';

/* make('p', {class: 'note', onclick: f}, 'text', child, null): attributes, listeners of events, then texts and elements. */
export function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {}))
        if (name.startsWith('on'))
            element.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value === true ? '' : shown(String(value), LINES));
    put(element, ...children);
    return element;
}

/* Puts children into an element that had others. */
export function put(element, ...children) {
    const there = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
    element.replaceChildren(...there.map((child) => (typeof child === 'string' ? shown(child, LINES) : child)));
}

/* One of several things to choose from, as a button. */
export function makeChoice(text, isChosen, onChoose) {
    return make('button', {class: `plain${isChosen ? ' chosen' : ''}`, 'aria-pressed': String(isChosen), onclick: onChoose}, say(text));
}

/* A line of values as a picture of a given size: for a row of a table. */
export function makeSparkline(values, width, height, label) {
    const svg = document.createElementNS(SVG, 'svg');
    const line = document.createElementNS(SVG, 'polyline');
    const most = Math.max(...values, 1), step = values.length > 1 ? (width - 2) / (values.length - 1) : 0;
    const points = values.map((value, i) => `${(1 + i * step).toFixed(1)},${(height - 2 - (height - 4) * value / most).toFixed(1)}`);
    for (const [name, value] of Object.entries({width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, class: 'spark'}))
        svg.setAttribute(name, value);
    line.setAttribute('points', points.join(' '));
    svg.append(line);
    return svg;
}

/* A canvas that is as sharp as the screen. draw(context, width, height) in units of the page, again after each change of size. */
export function makeCanvas(height, draw, attributes) {
    const canvas = make('canvas', {style: `height:${height}px`, ...attributes});
    let drawnWidth = null;
    const redraw = () => {
        const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
        drawnWidth = width;
        if (width === 0)
            return;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        const context = canvas.getContext('2d');
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        draw(context, width, height, ratio);
    };
    /* As in chart.mjs. */
    new ResizeObserver(() => drawnWidth !== null && canvas.clientWidth !== drawnWidth && redraw()).observe(canvas);
    return {canvas, redraw};
}

/* What a colour of page.css is now, light or dark. */
export function colourOf(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
