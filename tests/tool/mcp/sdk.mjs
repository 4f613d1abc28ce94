// SPDX-License-Identifier: Apache-2.0
//
// sdk.mjs NODE_MODULES NPUMEM_MCP FOLDER: npumem-mcp under the protocol's own clients: of the revisions that begin with initialize, and of
// the stateless one. They hold each answer to its outputSchema.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, program, folder] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), "here.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const started = { command: program, args: ["--folder", folder, "--write", folder], stderr: "inherit" };

async function walk(client, page) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), ["compare", "explain", "findings", "open", "query", "report"]);
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    return result.structuredContent;
  };
  const { handle, state } = await call("open", { path: "run.db" });
  assert.equal(state, "ready");
  const { findings } = await call("findings", { handle });
  assert.equal((await call("explain", { handle, finding: findings[0].finding_id })).finding[0].kind, findings[0].kind);
  assert.ok((await call("compare", { a: handle, ranks: true })).ranks.rows.length > 0);
  assert.deepEqual((await call("query", { handle, sql: "SELECT 1 AS one" })).rows, [[1]]);
  assert.ok((await call("report", { handle, path: page })).page.endsWith(page));
  const refused = await client.callTool({ name: "query", arguments: { handle, sql: "DROP TABLE finding" } });
  assert.equal(refused.isError, true);
}

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const begun = new Client({ name: "test", version: "1" });
await begun.connect(new StdioClientTransport(started));
await begun.ping();
assert.equal(begun.getServerVersion().name, "npumem");
await walk(begun, "begun.html");
await begun.close();

if (Number(process.versions.node.split(".")[0]) < 20) {
  console.log("skipped in part: the client of revision 2026-07-28 needs Node.js 20");
} else {
  const newer = await load("@modelcontextprotocol/client");
  const { StdioClientTransport: Transport } = await load("@modelcontextprotocol/client/stdio");
  const stateless = new newer.Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await stateless.connect(new Transport(started));
  assert.equal(stateless.getNegotiatedProtocolVersion(), "2026-07-28");
  await walk(stateless, "stateless.html");
  await stateless.close();
}
