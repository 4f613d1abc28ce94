/* SPDX-License-Identifier: Apache-2.0
 *
 * report.mjs FOLDER NAME...: pages in Chromium, as a Markdown table: from the beginning of navigation to the first picture and to all of it, and
 * the time from frame to frame while a range is dragged over the map, which draws it anew each time. Each page is opened a few times and the median
 * counts. A page that has no map is dragged over as well: it says what the machine does by itself.
 */
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const require = createRequire(`${process.env.NPUMEM_NODE_MODULES}/`);
const {chromium} = require('playwright-core');
const [folder, ...names] = process.argv.slice(2);
const TIMES = 3, FRAMES = 120;

function median(values) {
    return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/* Runs in the page before its own script: when what the page says of itself was first on the screen. */
function watch() {
    window.seen = {};
    const look = () => {
        for (const name of ['first', 'ready'])
            if (document.documentElement?.dataset[name] && !window.seen[name])
                window.seen[name] = performance.now();
        if (!window.seen.ready)
            requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}

/* Runs in the page: milliseconds from frame to frame, while the pointer goes over an element. */
async function drag(selector, count) {
    const element = document.querySelector(selector) ?? document.body, box = element.getBoundingClientRect(), frames = [];
    let before = await new Promise(requestAnimationFrame);
    for (let i = 0; i < count; i++) {
        const x = box.left + box.width * (0.2 + 0.6 * i / count), y = box.top + 40 + i % 60;
        element.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: y, bubbles: true}));
        const now = await new Promise(requestAnimationFrame);
        frames.push(now - before);
        before = now;
    }
    return frames;
}

async function look(browser, name) {
    const page = await browser.newPage({viewport: {width: 1440, height: 1000}}), isEmpty = name === 'empty';
    await page.addInitScript(watch);
    await page.goto(pathToFileURL(`${folder}/${name}.html`).href);
    if (!isEmpty)
        await page.waitForFunction(() => window.seen.ready, null, {timeout: 300000});
    const seen = isEmpty ? await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve({first: performance.now(), ready: performance.now()})))) : await page.evaluate(() => window.seen);
    if (!isEmpty) {
        const canvas = page.locator('#map-canvas');
        await canvas.scrollIntoViewIfNeeded();
        const box = await canvas.boundingBox();
        await page.mouse.move(box.x + box.width * 0.2, box.y + 40);
        await page.mouse.down();
    }
    const frames = await page.evaluate(`(${drag})('#map-canvas', ${FRAMES})`);
    await page.close();
    return {...seen, frame: median(frames), longest: Math.max(...frames)};
}

const browser = await chromium.launch({executablePath: process.env.NPUMEM_BROWSER, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking']});
console.log(`| page (Chromium ${browser.version()}) | first picture, ms | all of it, ms | median frame, ms | longest frame, ms |\n|---|---|---|---|---|`);
for (const name of names) {
    const looks = [];
    for (let i = 0; i < TIMES; i++)
        looks.push(await look(browser, name));
    const figure = (key) => Math.round(median(looks.map((one) => one[key])));
    console.log(`| ${name} | ${figure('first')} | ${figure('ready')} | ${figure('frame')} | ${figure('longest')} |`);
}
await browser.close();
