/* SPDX-License-Identifier: Apache-2.0
 *
 * A page of npumem report without a browser: its own script runs on elements that are only kept.
 */
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';

/* An element, as far as the page's script wants one: it has no size, so that nothing is drawn. */
export class Element {
    constructor(tag) {
        Object.assign(this, {tag, children: [], attributes: new Map(), listeners: [], style: {}, dataset: {}, clientWidth: 0, classList: {add: () => {}, toggle: () => {}}});
    }
    setAttribute(name, value) {
        this.attributes.set(name, String(value));
    }
    append(...children) {
        this.children.push(...children);
    }
    replaceChildren(...children) {
        this.children = children;
    }
    addEventListener(name, call) {
        this.listeners.push({name, call});
    }
    get textContent() {
        return this.children.map((child) => child.textContent ?? child).join('');
    }
    set textContent(text) {
        this.children = [text];
    }
    contains() {
        return false;
    }
    querySelector() {
        return null;
    }
    querySelectorAll() {
        return [];
    }
    getBoundingClientRect() {
        return {top: 0, bottom: 0, left: 0};
    }
    focus() {}
    remove() {}
}

/* The blocks of data of a page, as its script asks for them. */
function blocksOf(text) {
    return [...text.matchAll(/<script type="application\/octet-stream" class="(\w+)" data-head='([^']*)'>([^<]*)<\/script>/g)].map(([, kind, head, data]) => ({kind, dataset: {head: head.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')}, textContent: data, remove: () => {}}));
}

/* What the page's script finds around it; its module is the caller's to import. `listeners`: those of the window, by name. */
export function openPage(path, hash) {
    const blocks = blocksOf(readFileSync(path, 'utf8')), places = new Map(['top', 'main', 'search'].map((id) => [id, new Element('div')])), skip = new Element('a'), root = new Element('html');
    const find = (selector) => blocks.filter((block) => selector === `script.${block.kind}`);
    assert.ok(blocks.length > 10, `${path} has ${blocks.length} blocks`);
    const document = {documentElement: root, activeElement: null, getElementById: (id) => places.get(id) ?? null, querySelector: (selector) => (selector === '.skip' ? skip : find(selector)[0]), querySelectorAll: find, addEventListener: () => {},
        createElement: (tag) => new Element(tag), createElementNS: (space, tag) => new Element(tag)};
    const listeners = new Map(), window = {matchMedia: () => ({matches: false}), addEventListener: (name, call) => listeners.set(name, call), innerHeight: 0, devicePixelRatio: 1};
    Object.assign(globalThis, {document, window, Node: Element, location: {hash}, history: {replaceState: () => {}}, requestAnimationFrame: (call) => setTimeout(call, 0), getComputedStyle: () => ({getPropertyValue: () => '#808080'}),
        ResizeObserver: class {
            observe() {}
        }});
    Object.defineProperty(globalThis, 'navigator', {value: {languages: ['zh-CN', 'en'], language: 'zh-CN'}, configurable: true});
    return {root, skip, places, listeners};
}
