import assert from "node:assert/strict";
import { test } from "node:test";
import { linkSizes } from "./link-sizes.ts";

const blocks = (nodes: number, each: number) =>
  Array.from({ length: nodes * each }, (_, rank) => Math.floor(rank / each));

test("M8: links have large buffers in small jobs and never take more than a quarter of the memory", () => {
  const memoryBytes = 1 << 30;
  assert.deepEqual(linkSizes({ nodeOf: blocks(2, 2), memoryBytes }), { eagerBytesMax: 131_072, outBytes: 524_288 });
  for (const [nodes, each] of [
    [2, 1],
    [2, 16],
    [2, 64],
    [8, 8],
    [16, 16],
  ] as const) {
    const { eagerBytesMax, outBytes } = linkSizes({ nodeOf: blocks(nodes, each), memoryBytes });
    const links = each * (nodes - 1) * each;
    assert.ok(links * (outBytes + 2 * eagerBytesMax) <= memoryBytes / 4, `${nodes} nodes of ${each}`);
    assert.ok(eagerBytesMax >= 4096);
  }
});
