/**
 * Links over a pipe that a generator breaks: any number of bytes at a time, connections that end anywhere, with bytes
 * lost on the way. Whatever happens, packets arrive in order, each once, unchanged.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { filledBytes } from "../../../../test/filled-bytes.ts";
import type { Pointer } from "../../../core/base/brand.ts";
import fc from "../../../core/base/testing/properties.ts";
import type { Landing } from "../../../core/wire/transport.ts";
import { Pipe, PipeSide } from "../testing/pipe-world.ts";
import type { TcpRequest } from "./handover.ts";

/** One rank, and what it has told its host. */
class Side extends PipeSide {
  wants = false;
  bad = "";

  constructor(rank: number, chunk: () => number, landing: Landing | null) {
    const tell = (request: TcpRequest) => {
      if (request.kind === "tcp-connect") this.wants = true;
      if (request.kind === "tcp-bad-frame") this.bad = request.reason;
    };
    super({ rank, ranks: 2, chunk, landing, tell });
  }
}

let generation = 0;
function connect(a: Side, b: Side): void {
  generation++;
  const fd = generation;
  const there = new Pipe();
  const back = new Pipe();
  a.pipes.set(fd, { out: there, in: back });
  b.pipes.set(fd, { out: back, in: there });
  for (const [side, peer] of [
    [a, 1],
    [b, 0],
  ] as const) {
    side.wants = false;
    side.handover.give(0, peer, fd, { life: 0, generation });
  }
}

/** Both ends close; of what is under way only the first bytes still arrive. */
function breakConnection(a: Side, b: Side, keep: number): void {
  for (const side of [a, b]) for (const { in: pipe } of side.pipes.values()) pipe.break(keep);
}

const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("send" as const), from: fc.nat(1), bytes: fc.nat(512) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("push" as const),
      from: fc.nat(1),
      bytes: fc.integer({ min: 1, max: 9000 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("step" as const),
      side: fc.nat(1),
      times: fc.integer({ min: 1, max: 20 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("break" as const), keep: fc.nat(200) }) },
);

for (const lands of [true, false]) {
  test(`M8: streams survive partial transfers and broken connections (pieces ${lands ? "land" : "come as packets"})`, () => {
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 120 }), fc.nat(), (operations, seed) => {
        generation = 0;
        let random = seed | 1;
        // As many bytes as the kernel likes: few, or all.
        const chunk = () => {
          random = (Math.imul(random, 1103515245) + 12345) & 0x7fffffff;
          return random & 0x10000 ? 100_000 : (random >> 8) % 60;
        };
        // Receives are numbered by the sender; each has a place in the receiver's memory.
        const places = [new Map<number, number>(), new Map<number, number>()];
        const sides = [0, 1].map((rank) => {
          const landing = { landingOf: (receive: number) => places[rank]!.get(receive) ?? Number.NaN };
          return new Side(rank, chunk, lands ? landing : null);
        }) as [Side, Side];
        const expected: [string[], string[]] = [[], []];
        const pushes: {
          from: number;
          receive: number;
          pointer: number;
          bytes: number;
          done: number;
          started: boolean;
        }[] = [];
        const moved = [new Map<number, number>(), new Map<number, number>()];
        let tag = 0;

        for (const [index, side] of sides.entries()) {
          side.onPiece = ([, receive, offset, bytes], payload) => {
            const place = places[index]!.get(receive!)!;
            if (payload !== 0) side.memory.fromPayload(place as Pointer, offset!, payload, bytes!);
            moved[index]!.set(receive!, (moved[index]!.get(receive!) ?? 0) + bytes!);
          };
        }
        const advance = (push: (typeof pushes)[number]) => {
          while (push.done < push.bytes) {
            const { transport } = sides[push.from]!;
            const took = transport.push(1 - push.from, push.receive, push.pointer, push.done, push.bytes - push.done);
            if (took === 0) return;
            push.done += took;
          }
        };
        const turn = (side: Side) => {
          for (const push of pushes) if (push.done < push.bytes) advance(push);
          side.step();
          if (side.wants && (generation === 0 || !sides[0].pipes.get(generation)!.in.open)) connect(sides[0], sides[1]);
        };

        for (const one of operations) {
          switch (one.kind) {
            case "send": {
              if (!sides[one.from]!.send(1 - one.from, tag, one.bytes)) break;
              expected[1 - one.from]!.push(PipeSide.shown(one.from, tag, one.bytes));
              tag++;
              break;
            }
            case "push": {
              const receive = pushes.length;
              const content = filledBytes(one.bytes, (i) => (i * 7 + receive) & 0xff);
              // Every other buffer is an ordinary array.
              const sender = sides[one.from]!.memory;
              let pointer = sender.lend(content);
              if (receive % 2 === 0) {
                pointer = sender.allocate(one.bytes);
                sender.bytes.set(content, pointer);
              }
              const target = sides[1 - one.from]!.memory;
              const place = receive % 3 === 0 ? target.lend(new Uint8Array(one.bytes)) : target.allocate(one.bytes);
              places[1 - one.from]!.set(receive, place);
              const push = { from: one.from, receive, pointer, bytes: one.bytes, done: 0, started: true };
              pushes.push(push);
              advance(push);
              break;
            }
            case "step":
              for (let i = 0; i < one.times; i++) turn(sides[one.side]!);
              break;
            case "break":
              breakConnection(sides[0], sides[1], one.keep);
              break;
          }
        }

        const messages = (side: Side) => side.arrived.filter((line) => !line.startsWith("piece"));
        const isDone = () =>
          sides.every((side, i) => messages(side).length === expected[i]!.length) &&
          pushes.every((push) => push.done === push.bytes && moved[1 - push.from]!.get(push.receive) === push.bytes);
        for (let i = 0; i < 60_000 && !isDone(); i++) turn(sides[i & 1]!);

        for (const side of sides) assert.equal(side.bad, "");
        assert.deepEqual(messages(sides[0]), expected[0]);
        assert.deepEqual(messages(sides[1]), expected[1]);
        for (const { from, receive, bytes, done } of pushes) {
          assert.equal(done, bytes);
          assert.equal(moved[1 - from]!.get(receive), bytes);
          const place = places[1 - from]!.get(receive)!;
          const landed = sides[1 - from]!.memory.view(place as Pointer, bytes);
          assert.ok(landed.every((byte, i) => byte === ((i * 7 + receive) & 0xff)));
        }
      }),
      { numRuns: 300 },
    );
  });
}

/** Two sides that have exchanged a message each, over a connection that moves all there is. */
function acquainted(): [Side, Side] {
  generation = 0;
  const sides = [0, 1].map((rank) => new Side(rank, () => 100_000, null)) as [Side, Side];
  for (const [rank, side] of sides.entries()) side.send(1 - rank, 0, 100);
  connect(...sides);
  turns(sides, 20);
  assert.deepEqual(
    sides.map(({ arrived }) => arrived.length),
    [1, 1],
  );
  return sides;
}

function turns(sides: [Side, Side], count: number): void {
  for (let i = 0; i < count; i++) {
    for (const side of sides) side.step();
    const isOpen = sides.every(({ pipes }) => pipes.get(generation)!.in.open);
    if (!isOpen && sides.some(({ wants }) => wants)) connect(...sides);
  }
}

/** What the other side's main thread notices when one has closed the connection. */
function closeOn(sides: [Side, Side]): void {
  if (sides.some(({ wants }) => wants)) breakConnection(...sides, 0);
}

test("X7: nonsense on the way ends its connection; over the next one everything arrives, once", () => {
  const sides = acquainted();
  for (let round = 1; round <= 3; round++) {
    sides[1].pipes.get(generation)!.in.bytes.push(...new Array(64).fill(0xa5));
    sides[0].send(1, round, 200);
    sides[1].step();
    assert.ok(sides[1].wants, "wants another connection");
    closeOn(sides);
    turns(sides, 30);
    assert.deepEqual(sides[1].arrived.at(-1), PipeSide.shown(0, round, 200));
    assert.equal(sides[1].arrived.length, 1 + round);
  }
  assert.deepEqual([sides[0].bad, sides[1].bad], ["", ""]);
});

test("X7: a peer that never sends anything else is told to the main thread, and heard no more", () => {
  const sides = acquainted();
  for (let round = 0; round < 4; round++) {
    sides[1].pipes.get(generation)!.in.bytes.push(...new Array(64).fill(0xa5));
    sides[1].step();
    closeOn(sides);
    if (round < 3) turns(sides, 30);
  }
  assert.equal(sides[1].bad, "the stream is out of step");
});
