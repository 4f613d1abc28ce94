/* SPDX-License-Identifier: Apache-2.0
 *
 * picture.mjs PAGE.html OUT.png: the picture of a page that README shows, taken by Chromium. `cmake --build BUILD --target update_picture`.
 */
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const [page, out] = process.argv.slice(2), {chromium} = createRequire(`${process.env.NPUMEM_NODE_MODULES}/`)('playwright-core');
const browser = await chromium.launch({executablePath: process.env.NPUMEM_BROWSER, args: ['--no-sandbox', '--disable-gpu']});
const tab = await browser.newPage({viewport: {width: 1200, height: 1740}});
await tab.goto(pathToFileURL(page).href);
await tab.waitForFunction(() => document.documentElement.dataset.ready);
await tab.waitForTimeout(300);
await tab.screenshot({path: out});
await browser.close();
