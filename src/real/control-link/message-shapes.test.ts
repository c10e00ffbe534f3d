/** X7: whatever a node or a dispatcher is sent, it hears only what has the shape of a message, and never throws. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../core/base/testing/properties.ts";
import type { Shape } from "../../core/base/value-shape.ts";
import { logging } from "../../core/ft/logging/definition.ts";
import { none } from "../../core/ft/none/definition.ts";
import { ByteQueue } from "../framing/byte-queue.ts";
import { encodeValue, ValueReader } from "../framing/value-frame.ts";
import type { FromNode } from "../messages/node-messages.ts";
import { createPlaceWords, readPlace } from "../messages/whereabouts.ts";
import { fromNodeBounds, fromNodeShapes, toNewNode, toNodeBounds, toNodeShapes } from "./message-shapes.ts";

const place = { processes: 4, here: [2, 3], recovers: true, protocol: logging.name };
const tables = [
  { bounds: fromNodeBounds, shapes: fromNodeShapes(place) },
  { bounds: toNodeBounds, shapes: { ...toNewNode, ...toNodeShapes(place) } },
] as const;

const facts = { number: 1, position: 5, callsPassed: 9, inputOffset: 0, settledMs: 0.5, needs: [1, 3], sent: [] };
const chunk = { stream: "stdout", number: 0, offset: 3, bytes: Buffer.from("hello\n"), flush: false } as const;
/** One of each kind, as nodes send them. */
const examples: readonly FromNode[] = [
  { kind: "ready", build: "0.1.0", address: { host: "127.0.0.1", port: 4711 } },
  { kind: "unable", why: "no memory" },
  { kind: "connections", event: { kind: "unreachable", from: 2, to: 0, forMs: 5000, reason: "refused" } },
  { kind: "heartbeat", passed: [{ rank: 3, calls: 12 }], over: 1, packets: 7, usedMb: 12 },
  { kind: "whereabouts", number: 1, places: [readPlace(createPlaceWords(), { rank: 2, nowMs: 0 })] },
  { kind: "ranks-ready", order: 0, problem: "" },
  { kind: "rank-started", rank: 2, incarnation: 1 },
  { kind: "output", rank: 2, chunk },
  {
    kind: "rank-ended",
    rank: 3,
    incarnation: 0,
    ending: { kind: "threw", what: "Error: x", details: [], frames: ["a"] },
  },
  { kind: "ranks-returned", ranks: [{ rank: 2, incarnation: 1 }] },
  { kind: "clone", rank: 2, number: 17, news: { kind: "listening", addresses: [{ host: "::1", port: 9 }] } },
  { kind: "leaving" },
  { kind: "clone", rank: 2, number: 17, news: { kind: "copied", rounds: [{ pages: 3, ms: 0.5 }] } },
  { kind: "from-rank", rank: 2, message: { kind: "captured", ...facts } },
  { kind: "from-rank", rank: 2, message: { kind: "protocol", words: { kind: "log-full", sets: [1] } } },
  {
    kind: "from-rank",
    rank: 2,
    message: { kind: "report", report: { bytesTo: [0, 8], messages: 1, determinantBytes: 12 } },
  },
  { kind: "protocol", words: undefined },
  { kind: "bye" },
];

/** Every message that is heard, until there are no more or one is bad. */
function heard(bytes: Buffer, { bounds, shapes }: (typeof tables)[number]): unknown[] {
  const queue = new ByteQueue();
  queue.push(bytes);
  const reader = new ValueReader(queue, bounds);
  const all: unknown[] = [];
  for (let next = reader.next(); next.state === "whole"; next = reader.next()) {
    const shape = (shapes as Readonly<Record<string, Shape<unknown> | undefined>>)[next.kind];
    if (shape === undefined || shape(next.value) !== "") break;
    all.push(next.value);
  }
  return all;
}

function framesOf(messages: readonly FromNode[]): Buffer {
  return Buffer.concat(
    messages.map((message) => {
      const encoded = encodeValue(fromNodeBounds, message);
      assert(encoded.ok);
      return encoded.frame;
    }),
  );
}

/** Of a protocol whose parts in nodes say nothing. */
test("X7: words of a node that its protocol does not know are not heard", () => {
  const words = { kind: "protocol", words: { sum: 1 } } as const;
  assert.deepEqual(heard(framesOf([words]), tables[0]), []);
});

test("X7: one message of each kind that a node sends is heard as it is", () => {
  assert.deepEqual(heard(framesOf(examples), tables[0]), examples);
  const kinds = new Set(examples.map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), Object.keys(fromNodeBounds).sort());
});

test("X7: random bytes are no messages, and nothing throws", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(20), (noise, kind) => {
      const header = Buffer.alloc(8);
      header.writeUInt32LE(noise.length, 0);
      header.writeUInt32LE(kind, 4);
      for (const table of tables) {
        assert.deepEqual(heard(Buffer.from(noise), table), []);
        assert.deepEqual(heard(Buffer.concat([header, noise]), table), []);
      }
    }),
  );
});

test("X7: messages with damaged bytes are heard if they are well formed, and refused otherwise; nothing throws", () => {
  const good = framesOf(examples);
  let refused = 0;
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), (at, bits) => {
      const damaged = Buffer.from(good);
      damaged[at]! ^= bits;
      const all = heard(damaged, tables[0]);
      if (all.length < examples.length) refused++;
      for (const message of all as FromNode[]) {
        if ("rank" in message) assert(place.here.includes(message.rank));
      }
    }),
  );
  assert(refused > 20, `${refused} were refused`);
});

test("X7: values of any type in any field are refused, or are of the type of the field", () => {
  fc.assert(
    fc.property(fc.constantFrom(...examples), fc.anything(), fc.nat(), (message, value, which) => {
      const keys = Object.keys(message);
      const key = keys[which % keys.length]!;
      const lie: unknown = { ...message, [key]: value };
      const shape = fromNodeShapes(place)[message.kind] as Shape<unknown>;
      if (shape(lie) !== "" || key === "kind") return;
      const before: unknown = (message as unknown as Readonly<Record<string, unknown>>)[key];
      assert(value === null || typeof value === typeof before, `${message.kind}.${key}`);
    }),
  );
});

test("X7: values that only a protocol understands are checked by its own shapes, in both directions", () => {
  const log = Int32Array.of(1, 2);
  const wrongs: readonly (readonly [shape: Shape<unknown> | undefined, message: object, problem: string])[] = [
    [toNodeShapes(place).protocol, { kind: "protocol", words: { logger: 7 } }, ".words.logger is no object"],
    [
      fromNodeShapes(place)["from-rank"],
      { kind: "from-rank", rank: 2, message: { kind: "report", report: { bytesTo: [-1], messages: 0 } } },
      ".message.report.bytesTo[0] is no whole number from 0 to 9007199254740991",
    ],
    [
      fromNodeShapes(place)["from-rank"],
      { kind: "from-rank", rank: 2, message: { kind: "protocol", words: { kind: "log-full" } } },
      ".message.words has no sets",
    ],
    // A protocol whose parts say nothing.
    [
      toNodeShapes({ ...place, protocol: none.name }).protocol,
      { kind: "protocol", words: { logger: { host: "::1", port: 1 } } },
      ".words is there, and should not be",
    ],
  ];
  for (const [shape, message, problem] of wrongs) assert.equal(shape?.(message), problem);
  const { forNode, forRanks } = logging.shapes;
  assert.equal(forNode({ streams: [{ set: 1, from: -3, words: log }], logBytesMax: 1 << 20 }), "");
  assert.equal(
    forNode({ streams: [{ set: 1, from: 0, words: [1] }], logBytesMax: 1 }),
    ".streams[0].words is no list of 32-bit words",
  );
  const sent = { from: 1, to: 0, next: 7, unsent: [5], waiting: [[3, 2, -1, 100_000]] };
  assert.equal(forRanks({ log, setOf: [0, 1], parted: [] }), "");
  assert.equal(forRanks({ log, setOf: [0, 1], parted: [sent] }), "");
  assert.equal(forRanks({ log, setOf: [0, 1] }), "has no parted");
  assert.notEqual(forRanks({ log, setOf: [0, 1], parted: [{ ...sent, waiting: [[1, 2]] }] }), "");
  assert.equal(forRanks(undefined), "is no object");
});
