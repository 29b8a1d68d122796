// SPDX-License-Identifier: Apache-2.0
// The protocol's own client: lists the tools, calls some, and prints what it got as JSON.
// mcp_client.mjs MODULES STEPTRACE DIRECTORY TRACE
const [modules, program, directory, trace] = process.argv.slice(2);
const sdk = `${modules}/node_modules/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(`${sdk}/index.js`);
const { StdioClientTransport } = await import(`${sdk}/stdio.js`);
const client = new Client({ name: "tests", version: "1" });
await client.connect(new StdioClientTransport({ command: program, args: ["mcp", directory] }));
const { tools } = await client.listTools();
const stats = await client.callTool({ name: "stats", arguments: { trace, top: 3 } });
const missing = await client.callTool({ name: "stats", arguments: { trace: "../" + trace } });
let refused = "";
try {
  await client.callTool({ name: "no_such_tool", arguments: {} });
} catch (error) {
  refused = error.message;
}
let list = "";
try {
  await client.callTool({ name: "info", arguments: { trace: [trace] } }, undefined, { timeout: 20000 });
} catch (error) {
  list = error.message;
}
await client.ping();
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), text: stats.content[0].text,
  missing: missing.isError, refused, list }));
