import assert from "node:assert/strict";
import { test } from "node:test";
import { type Message, rubbish, run } from "../testing/collective-world.ts";
import { bytesOf, crossing, log2Ceiling, roundsMax, sentBy } from "../testing/cost.ts";
import { assertBytes, memberNodesOf, pattern, ranksOf, rootsOf, sizes } from "../testing/data.ts";
import { bcastBinomial } from "./bcast-binomial.ts";
import { bcastHierarchical, type FlatBcast } from "./bcast-hierarchical.ts";
import { bcastScatterAllgather } from "./bcast-scatter-allgather.ts";

function broadcast(build: FlatBcast, { size, root, bytes }: { size: number; root: number; bytes: number }): Message[] {
  const data = pattern(root, 0, bytes);
  const setups = ranksOf(size).map((rank) => ({
    schedule: build({ rank, size, root, bytes }),
    receive: rank === root ? data.slice() : rubbish(bytes),
  }));
  const messages = run(setups, { seed: size * 100 + root });
  for (const [rank, { receive }] of setups.entries()) {
    assertBytes(receive, data, `rank ${rank} of ${size}, root ${root}, ${bytes} bytes`);
  }
  return messages;
}

test("M3 bcast binomial: everybody has the root's bytes, p − 1 messages", () => {
  for (const size of sizes) {
    for (const root of rootsOf(size)) {
      for (const bytes of [0, 1, 13]) {
        const messages = broadcast(bcastBinomial, { size, root, bytes });
        assert.equal(messages.length, size - 1);
        const sentByRoot = messages.filter((message) => message.from === root).length;
        assert.equal(sentByRoot, log2Ceiling(size));
      }
    }
  }
});

test("M3 bcast scatter-allgather: everybody has the root's bytes, each received once", () => {
  for (const size of sizes) {
    for (const root of rootsOf(size)) {
      for (const bytes of [0, 1, 257]) {
        const messages = broadcast(bcastScatterAllgather, { size, root, bytes });
        assert.equal(bytesOf(messages), (size - 1) * bytes);
      }
    }
  }
});

test("M3 bcast scatter-allgather: at most 2n bytes sent by anybody, p + 1 rounds", () => {
  for (const size of sizes) {
    const bytes = size * 10;
    const messages = broadcast(bcastScatterAllgather, { size, root: 0, bytes });
    for (const rank of ranksOf(size)) assert.ok(sentBy(rank, messages) <= 2 * bytes);
    const schedules = ranksOf(size).map((rank) => bcastScatterAllgather({ rank, size, root: 0, bytes }));
    assert.ok(roundsMax(schedules) <= size + 1);
  }
});

test("M3 bcast hierarchical: everybody has the root's bytes, (m − 1)·n bytes between m nodes", () => {
  for (const size of sizes) {
    for (const nodes of memberNodesOf(size)) {
      for (const root of rootsOf(size)) {
        for (const bytes of [0, 50]) {
          const build: FlatBcast = (call) =>
            bcastHierarchical({ ...call, nodes, among: bcastBinomial, inside: bcastScatterAllgather });
          const messages = broadcast(build, { size, root, bytes });
          assert.equal(bytesOf(crossing(messages, nodes)), (new Set(nodes).size - 1) * bytes);
        }
      }
    }
  }
});
