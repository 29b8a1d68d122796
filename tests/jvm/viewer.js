// SPDX-License-Identifier: Apache-2.0
// viewer.js MODULES FILE: imports memory-infra JSON with the importer of Chromium's trace viewer, as
// the npm package lighthouse 1.6.5 bundles it, and prints what it made of it as JSON: its warnings,
// and for each dump the total, the allocator's size and each backtrace's size with those of its
// children.
'use strict';
const fs = require('fs');
const path = require('path');
const modules = path.resolve(process.argv[2]);

global.window = global;
Object.assign(global, require(path.join(modules, 'gl-matrix')));
global.JSZip = {};
global.mannwhitneyu = {};
global.HTMLImportsLoader = {hrefToAbsolutePath: () => '../../../lib/empty-stub.js'};
require(path.join(modules, 'lighthouse/lighthouse-core/third_party/traceviewer-js/'));

const model = new tr.Model();
const options = new tr.importer.ImportOptions();
options.showImportWarnings = false;
options.pruneEmptyContainers = false;
new tr.importer.Import(model, options).importTraces([fs.readFileSync(process.argv[3], 'utf8')]);

function describe(dump) {
  const heap = dump.heapDumps.java_heap;
  const nodes = new Map();
  for (const entry of heap.entries) {
    const id = entry.leafStackFrame === undefined ? '' : entry.leafStackFrame.id;
    if (!nodes.has(id)) nodes.set(id, {size: 0, children: 0, types: 0});
    const node = nodes.get(id);
    if (entry.objectTypeName !== undefined) {
      node.types += entry.size;
      continue;
    }
    node.size = entry.size;
    if (id !== '') {
      const parent = entry.leafStackFrame.parentFrame;
      nodes.get(parent === undefined ? '' : parent.id).children += entry.size;
    }
  }
  return {total: nodes.get('').size, count: heap.entries[0].count,
    allocator: dump.memoryAllocatorDumps[0].numerics.size.value,
    nodes: Array.from(nodes.values())};
}

const dumps = [];
for (const pid of Object.keys(model.processes))
  for (const dump of model.processes[pid].memoryDumps) dumps.push(describe(dump));
console.log(JSON.stringify({warnings: model.importWarnings.map(w => w.message), dumps}));
