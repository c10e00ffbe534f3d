/** Blocks of words: one that somebody holds is never given to another. */
import { equal, notEqual } from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryOutgoing } from "./memory-streams.ts";
import { WordBlocks } from "./word-blocks.ts";

describe("V3 blocks of words", () => {
  it("are used again when the last has let them go, and not before", () => {
    const blocks = new WordBlocks();
    const { buffer } = blocks.take();
    const part = new Int32Array(buffer, 8, 3);
    blocks.hold(part);
    blocks.letGo(new Int32Array(buffer));
    notEqual(blocks.take().buffer, buffer);
    blocks.letGo(part);
    equal(blocks.take().buffer, buffer);
  });

  it("are held by a stream until the other end has acknowledged all that was lent to it", () => {
    const blocks = new WordBlocks();
    const block = blocks.take();
    const outgoing = new MemoryOutgoing({ retention: "until-acknowledged", wordsMax: 100, holds: blocks });
    equal(outgoing.lend(block, 0, 10), 10);
    equal(outgoing.lend(block, 20, 30), 10);
    blocks.letGo(block);
    outgoing.send(new Int32Array(20), 0, 20);
    for (const position of [5, 10, 19]) {
      outgoing.acknowledge(position);
      notEqual(blocks.take().buffer, block.buffer);
    }
    outgoing.acknowledge(20);
    equal(blocks.take().buffer, block.buffer);
  });

  it("may be memory from elsewhere, with which nothing happens", () => {
    const blocks = new WordBlocks();
    const other = new Int32Array(10);
    blocks.hold(other);
    blocks.letGo(other);
    blocks.letGo(other);
    notEqual(blocks.take().buffer, other.buffer);
  });
});
