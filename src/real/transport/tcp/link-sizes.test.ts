import assert from "node:assert/strict";
import { test } from "node:test";
import { placementOf } from "../../../core/service/placement.ts";
import { linkSizes, linkSizesBetween } from "./link-sizes.ts";

const blocks = (nodes: number, each: number) =>
  placementOf(Array.from({ length: nodes * each }, (_, rank) => Math.floor(rank / each)));

test("M8: links have large buffers in small jobs and never take more than a quarter of the memory", () => {
  const memoryBytes = 1 << 30;
  assert.deepEqual(linkSizes({ placement: blocks(2, 2), memoryBytes }), { eagerBytesMax: 131_072, outBytes: 524_288 });
  for (const [nodes, each] of [
    [2, 1],
    [2, 16],
    [2, 64],
    [8, 8],
    [16, 16],
  ] as const) {
    const { eagerBytesMax, outBytes } = linkSizes({ placement: blocks(nodes, each), memoryBytes });
    const links = each * (nodes - 1) * each;
    assert.ok(links * (outBytes + 2 * eagerBytesMax) <= memoryBytes / 4, `${nodes} nodes of ${each}`);
    assert.ok(eagerBytesMax >= 4096);
  }
});

test("M6: that processes may be spawned makes no link between the job's own ranks smaller", () => {
  const memoryBytes = 256 << 20;
  const [ranks, own] = [4, blocks(2, 2)];
  const placement = placementOf([...own, ...Array.from({ length: 128 }, (_, i) => i % 2)]);
  const sizesOf = (rank: number) => linkSizesBetween({ rank, ranks, placement, memoryBytes });
  assert.deepEqual(sizesOf(0)(2), linkSizes({ placement: own, memoryBytes }));
  // Both sides of a link come to the same.
  for (const [a, b] of [
    [0, 2],
    [0, 5],
    [4, 7],
  ] as const)
    assert.deepEqual(sizesOf(a)(b), sizesOf(b)(a));
  assert.ok(sizesOf(0)(5).eagerBytesMax < sizesOf(0)(2).eagerBytesMax);
});
