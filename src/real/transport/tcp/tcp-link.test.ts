/**
 * Links over a pipe that a generator breaks: any number of bytes at a time, connections that end anywhere, with bytes
 * lost on the way. Whatever happens, packets arrive in order, each once, unchanged.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BYTES, CONTEXT, KIND, PAYLOAD, PacketKind, SOURCE, TAG } from "../../../core/wire/packet.ts";
import type { Landing } from "../../../core/wire/transport.ts";
import { Handover, newHandover } from "./handover.ts";
import { PlainMemory } from "./plain-memory.ts";
import { CLOSED, type SocketCalls, WOULD_BLOCK } from "./socket-calls.ts";
import { TcpTransport } from "./tcp-transport.ts";

/** Bytes in one direction of a connection. */
class Pipe {
  bytes: number[] = [];
  open = true;
}

/** One rank, whose sockets are pipes and whose kernel moves as many bytes as the generator says. */
class Side {
  readonly memory = new PlainMemory(4);
  readonly transport: TcpTransport;
  readonly handover: Handover;
  readonly arrived: string[] = [];
  readonly pipes = new Map<number, { out: Pipe; in: Pipe }>();
  wants = false;
  lost = 0;
  bad = "";

  constructor(rank: number, chunk: () => number, landing: Landing | null) {
    const shared = newHandover({ processes: 1, ranks: 2 });
    this.handover = new Handover(shared);
    this.transport = new TcpTransport({
      rank,
      ranks: 2,
      process: 0,
      memory: this.memory,
      handover: shared,
      sizes: { eagerBytesMax: 512, outBytes: 6144 },
      openCalls: () => this.#calls(chunk),
      tell: (request) => {
        if (request.kind === "tcp-connect") this.wants = true;
        if (request.kind === "tcp-lost") this.lost = request.generation;
        if (request.kind === "tcp-bad-frame") this.bad = request.reason;
      },
    });
    if (landing !== null) this.transport.setLanding(landing);
  }

  #calls(chunk: () => number): SocketCalls {
    const { memory, pipes } = this;
    const receiveView = (fd: number, view: Uint8Array, offset: number, bytes: number): number => {
      const pipe = pipes.get(fd)!.in;
      const length = Math.min(bytes, chunk(), pipe.bytes.length);
      if (length === 0) return pipe.open ? WOULD_BLOCK : CLOSED;
      view.set(pipe.bytes.splice(0, length), offset);
      return length;
    };
    const sendView = (fd: number, view: Uint8Array, offset: number, bytes: number): number => {
      const pipe = pipes.get(fd)!.out;
      const length = bytes === 64 && pipe.bytes.length === 0 ? 64 : Math.min(bytes, chunk());
      if (!pipe.open) return CLOSED;
      if (length === 0 || pipe.bytes.length > 3000) return WOULD_BLOCK;
      pipe.bytes.push(...view.subarray(offset, offset + length));
      return length;
    };
    return {
      name: "wasi",
      wakeFd: -1,
      open() {},
      close() {},
      send: (fd, at, bytes) => sendView(fd, memory.bytes, at, bytes),
      receive: (fd, at, bytes) => receiveView(fd, memory.bytes, at, bytes),
      sendView,
      receiveView,
      watchWritable() {},
      wait: () => -1,
      readyAt: () => -1,
      onReady: () => null,
      end() {},
    };
  }

  /** Takes one packet, if there is one. */
  step(): void {
    const { transport } = this;
    const packet = transport.peek();
    if (packet < 0) return;
    const { words } = transport;
    const bytes = words[packet + BYTES]!;
    const payload = words[packet + PAYLOAD]!;
    const what = [words[packet + SOURCE], words[packet + CONTEXT], words[packet + TAG], bytes];
    const content =
      payload === 0 ? "landed" : Buffer.from(this.memory.bytes.slice(payload, payload + bytes)).toString("hex");
    this.arrived.push((words[packet + KIND]! & 0xff) === PacketKind.FRAGMENT ? `piece ${what}` : `${what} ${content}`);
    if (this.onPiece !== null && (words[packet + KIND]! & 0xff) === PacketKind.FRAGMENT)
      this.onPiece(what as number[], payload);
    transport.release();
  }
  onPiece: ((what: number[], payload: number) => void) | null = null;
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
    side.handover.give(0, peer, fd, generation);
  }
}

/** Both ends close; of what is under way only the first bytes still arrive. */
function breakConnection(a: Side, b: Side, keep: number): void {
  for (const side of [a, b]) {
    for (const { in: pipe } of side.pipes.values()) {
      if (pipe.open) pipe.bytes.length = Math.min(pipe.bytes.length, keep);
      pipe.open = false;
    }
  }
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
            if (payload !== 0) side.memory.fromPayload(place as never, offset!, payload, bytes!);
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
              const { transport, memory } = sides[one.from]!;
              const packet = transport.reserve(1 - one.from, one.bytes);
              if (packet < 0) break;
              const { words } = transport;
              const content = Buffer.alloc(one.bytes, tag + 1);
              words[packet + KIND] = PacketKind.EAGER;
              words[packet + CONTEXT] = 7;
              words[packet + TAG] = tag;
              words[packet + BYTES] = one.bytes;
              if (one.bytes > 0) memory.bytes.set(content, transport.payload);
              transport.commit(1 - one.from);
              const shown = one.bytes === 0 ? "landed" : content.toString("hex");
              expected[1 - one.from]!.push(`${[one.from, 7, tag, one.bytes]} ${shown}`);
              tag++;
              break;
            }
            case "push": {
              const receive = pushes.length;
              const content = Uint8Array.from({ length: one.bytes }, (_, i) => (i * 7 + receive) & 0xff);
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
          const landed = sides[1 - from]!.memory.view(place as never, bytes);
          assert.ok(landed.every((byte, i) => byte === ((i * 7 + receive) & 0xff)));
        }
      }),
      { numRuns: 300 },
    );
  });
}
