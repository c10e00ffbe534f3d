import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { costModelDefault } from "../../sim/cost-model.ts";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { WorldOptions } from "../../sim/world.ts";
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import { SendMode } from "../request/records.ts";
import { EXTRA, PacketKind, SOURCE } from "../wire/packet.ts";
import { Now } from "./engine.ts";
import { inject, type MadePacket } from "./testing/packets.ts";

const { EAGER, RTS, CTS, FRAGMENT, RELEASE, FINISH, HELP, CANCEL, CANCEL_ANSWER } = PacketKind;
/** Ranks 0 and 1 exchange, rank 2 is a stranger: of another node in both worlds. */
const apart: WorldOptions = { ranks: 3, nodes: 3 };
const together: WorldOptions = { ranks: 3, nodes: 2, sharesInside: true };
const eagerBytesMax = costModelDefault.eagerBytesMax;
const helped = 200_001;
const bytes = 100_000;
const far = 0x7fff_fff0;

/** A message from rank 0 to rank 1, stopped on its way. */
interface Stopped {
  readonly hand: ByHand;
  readonly send: RecordId;
  /** −1 where none is posted yet. */
  readonly receive: RecordId;
  /** A number that no request has. */
  readonly free: number;
}

function freeze(hand: ByHand, rank: number): void {
  hand.world.processes[rank]!.state = "computing";
}

function thaw(hand: ByHand, rank: number): void {
  hand.world.processes[rank]!.state = "passive";
  hand.engine(rank).progress();
}

/** The send waits for an answer; nobody has posted the receive. */
function awaitsAnswer(world: WorldOptions): Stopped {
  const hand = new ByHand(world);
  const send = hand.send({ from: 0, to: 1, bytes, number: 1 });
  hand.settle();
  return { hand, send, receive: -1 as RecordId, free: send + 1 };
}

/** The receive has answered, or copies with the sender's help; the sender does not look. */
function awaitsBytes(world: WorldOptions, { sendLent = false, length = bytes } = {}): Stopped {
  const hand = new ByHand(world);
  const receive = hand.receive({ at: 1, source: 0 });
  const send = hand.send({ from: 0, to: 1, bytes: length, number: 1, lent: sendLent });
  freeze(hand, 0);
  hand.settle();
  return { hand, send, receive, free: receive + 1 };
}

/** The sender has pushed a first piece into a channel that is full now; the receiver does not look. */
function pushes(): Stopped {
  const stopped = awaitsBytes({ ...apart, cost: { channelBytesMax: 1_200, pieceBytesMax: 1_000 } });
  freeze(stopped.hand, 1);
  thaw(stopped.hand, 0);
  ok(stopped.hand.engine(0).unsent);
  return stopped;
}

/** As `pushes`, and the receiver has taken some pieces but not all. */
function takesPieces(): Stopped {
  const stopped = pushes();
  freeze(stopped.hand, 0);
  thaw(stopped.hand, 1);
  stopped.hand.settle();
  return stopped;
}

/** Lets the message go on: it must arrive whole, and nothing may be left. */
function arrivesWhole({ hand, send, receive }: Stopped): void {
  thaw(hand, 0);
  thaw(hand, 1);
  hand.settle();
  const wanted = receive >= 0 ? receive : hand.receive({ at: 1, source: 0 });
  hand.settle();
  equal(hand.end(1, wanted, { number: 1 }).error, 0);
  deepEqual(
    [hand.end(0, send)].map(({ error, cancelled }) => ({ error, cancelled })),
    [{ error: 0, cancelled: false }],
  );
  deepEqual(hand.leftBehind(), []);
}

type Wrong = readonly [what: string, packet: (stopped: Stopped) => Partial<MadePacket> & { kind: number }];

/** Packets that rank 1 might send to rank 0 about its send, and each is wrong. */
const aboutSend: readonly Wrong[] = [
  ["clear to send, of a stranger", ({ send }) => ({ kind: CTS, from: 2, context: send, bytes: -1, sequence: bytes })],
  ["clear to send, about no record", () => ({ kind: CTS, context: 1 << 20, bytes: -1, sequence: bytes })],
  ["clear to send, about a record below the table", () => ({ kind: CTS, context: -1, bytes: -1, sequence: bytes })],
  ["clear to send, about a record that is free", ({ free }) => ({ kind: CTS, context: free, bytes: -1, sequence: 8 })],
  ["clear to send more than there is", ({ send }) => ({ kind: CTS, context: send, bytes: -1, sequence: bytes + 1 })],
  ["clear to send nothing", ({ send }) => ({ kind: CTS, context: send, bytes: -1, sequence: 0 })],
  ["clear to send less than nothing", ({ send }) => ({ kind: CTS, context: send, bytes: -1, sequence: -8 })],
  ["clear to write outside all memory", ({ send }) => ({ kind: CTS, context: send, bytes: far, sequence: 64 })],
  ["release, of a stranger", ({ send }) => ({ kind: RELEASE, from: 2, context: send })],
  ["release of no record", () => ({ kind: RELEASE, context: 0x7fff_ffff })],
  ["release of a record below the table", () => ({ kind: RELEASE, context: -0x8000_0000 })],
  ["release of a record that is free", ({ free }) => ({ kind: RELEASE, context: free })],
  ["help, of a stranger", ({ send }) => ({ kind: HELP, from: 2, context: send, tag: 64, bytes: 8 })],
  ["help with more than there is", ({ send }) => ({ kind: HELP, context: send, tag: 64, bytes: bytes + 1 })],
  ["help with less than nothing", ({ send }) => ({ kind: HELP, context: send, tag: 64, bytes: -1 })],
  ["help to a place outside all memory", ({ send }) => ({ kind: HELP, context: send, tag: far, bytes: 64 })],
  ["help with a record that is free", ({ free }) => ({ kind: HELP, context: free, tag: 64, bytes: 8 })],
  ["cancelled, which nobody wanted", ({ send }) => ({ kind: CANCEL_ANSWER, context: send, tag: 1 })],
  ["cancelled, of a stranger", ({ send }) => ({ kind: CANCEL_ANSWER, from: 2, context: send, tag: 1 })],
  ["cancelled, no record", () => ({ kind: CANCEL_ANSWER, context: 1 << 24, tag: 1 })],
  ["an answer to cancel that is neither yes nor no", ({ send }) => ({ kind: CANCEL_ANSWER, context: send, tag: 2 })],
  ["finish of a send", ({ send }) => ({ kind: FINISH, context: send })],
  ["a piece for a send", ({ send }) => ({ kind: FRAGMENT, context: send, tag: 0, bytes: 8, payloadBytes: 8 })],
];

/** Packets that rank 0 might send to rank 1 about its receive. */
const aboutReceive: readonly Wrong[] = [
  [
    "a piece of a stranger",
    ({ receive }) => ({ kind: FRAGMENT, from: 2, context: receive, bytes: 8, payloadBytes: 8 }),
  ],
  ["a piece for no record", () => ({ kind: FRAGMENT, context: 1 << 20, bytes: 8, payloadBytes: 8 })],
  ["a piece for a record below the table", () => ({ kind: FRAGMENT, context: -3, bytes: 8, payloadBytes: 8 })],
  ["a piece for a record that is free", ({ free }) => ({ kind: FRAGMENT, context: free, bytes: 8, payloadBytes: 8 })],
  [
    "a piece that leaves a gap",
    ({ receive }) => ({ kind: FRAGMENT, context: receive, tag: 999, bytes: 8, payloadBytes: 8 }),
  ],
  [
    "a piece before the start",
    ({ receive }) => ({ kind: FRAGMENT, context: receive, tag: -8, bytes: 8, payloadBytes: 8 }),
  ],
  [
    "a piece beyond the end",
    ({ receive }) => ({ kind: FRAGMENT, context: receive, tag: bytes - 4, bytes: 8, payloadBytes: 8 }),
  ],
  ["a piece longer than the message", ({ receive }) => ({ kind: FRAGMENT, context: receive, bytes: bytes + 1 })],
  [
    "a piece whose end wraps around",
    ({ receive }) => ({ kind: FRAGMENT, context: receive, tag: 8, bytes: 0x7fff_ffff }),
  ],
  ["a piece of nothing", ({ receive }) => ({ kind: FRAGMENT, context: receive })],
  ["a piece of less than nothing", ({ receive }) => ({ kind: FRAGMENT, context: receive, bytes: -8, payloadBytes: 8 })],
  ["finish, of a stranger", ({ receive }) => ({ kind: FINISH, from: 2, context: receive })],
  ["finish of no record", () => ({ kind: FINISH, context: 0x7fff_ffff })],
  ["finish of a record that is free", ({ free }) => ({ kind: FINISH, context: free })],
  ["clear to send for a receive", ({ receive }) => ({ kind: CTS, context: receive, bytes: -1, sequence: 8 })],
  ["release of a receive", ({ receive }) => ({ kind: RELEASE, context: receive })],
  ["help with a receive", ({ receive }) => ({ kind: HELP, context: receive, tag: 64, bytes: 8 })],
  ["a receive cancelled from outside", ({ receive }) => ({ kind: CANCEL_ANSWER, context: receive, tag: 1 })],
];

const only = (kinds: readonly number[], wrongs: readonly Wrong[]): readonly Wrong[] => {
  const nobody: Stopped = { hand: null as never, send: 0 as RecordId, receive: 0 as RecordId, free: 1 };
  return wrongs.filter(([, packet]) => kinds.includes(packet(nobody).kind));
};

const right = {
  piece: ["a piece", ({ receive }) => ({ kind: FRAGMENT, context: receive, bytes: 8, payloadBytes: 8 })],
  finish: ["finish", ({ receive }) => ({ kind: FINISH, context: receive })],
  clear: ["clear to send once more", ({ send }) => ({ kind: CTS, context: send, bytes: -1, sequence: 8 })],
  release: ["release", ({ send }) => ({ kind: RELEASE, context: send })],
  help: ["help", ({ send }) => ({ kind: HELP, context: send, tag: 64, bytes: 8 })],
} as const satisfies Record<string, Wrong>;

const stages: readonly { name: string; stop: () => Stopped; victim: 0 | 1; wrongs: readonly Wrong[] }[] = [
  {
    name: "a send that waits for its answer, between nodes",
    stop: () => awaitsAnswer(apart),
    victim: 0,
    wrongs: [
      ...aboutSend,
      ["clear to write, from another node", ({ send }) => ({ kind: CTS, context: send, bytes: 64, sequence: 64 })],
      ["help, from another node", ({ send }) => ({ kind: HELP, context: send, tag: 64, bytes: 64 })],
    ],
  },
  {
    name: "a send that waits for its answer, in one memory",
    stop: () => awaitsAnswer(together),
    victim: 0,
    wrongs: aboutSend,
  },
  {
    name: "a send that pushes pieces",
    stop: pushes,
    victim: 0,
    wrongs: [...aboutSend, right.clear, right.release, right.help],
  },
  {
    name: "a receive that waits for pieces",
    stop: () => awaitsBytes(apart),
    victim: 1,
    wrongs: [...aboutReceive, right.finish],
  },
  {
    name: "a receive that has some pieces",
    stop: takesPieces,
    victim: 1,
    wrongs: [...aboutReceive, ["the first piece again", right.piece[1]], right.finish],
  },
  {
    name: "a receive whose sender writes into its memory",
    stop: () => awaitsBytes(together, { sendLent: true }),
    victim: 1,
    wrongs: [...aboutReceive, right.piece],
  },
  {
    name: "a receive that copies with help",
    stop: () => awaitsBytes(together, { length: helped }),
    victim: 1,
    wrongs: [...only([FRAGMENT, FINISH], aboutReceive), right.piece, right.finish],
  },
];

for (const { name, stop, victim, wrongs } of stages) {
  describe(`packets that are not about ${name} are refused, and the message arrives whole`, () => {
    for (const [what, packet] of wrongs) {
      it(what, () => {
        const stopped = stop();
        const { hand } = stopped;
        inject(hand, { from: 1 - victim, to: victim, ...packet(stopped) });
        hand.settle();
        hand.engine(victim).progress();
        equal(hand.engine(victim).arrivals.refused, 1);
        const request = victim === 0 ? stopped.send : stopped.receive;
        equal(hand.complete(victim, request), false);
        arrivesWhole(stopped);
        equal(hand.engine(1 - victim).arrivals.refused, 0);
      });
    }
  });
}

describe("messages that cannot be are refused", () => {
  const wrongs: readonly (readonly [string, Partial<MadePacket> & { kind: number }])[] = [
    ["an eager message of less than nothing", { kind: EAGER, bytes: -1, payloadBytes: 8 }],
    ["an eager message of the least number", { kind: EAGER, bytes: -0x8000_0000 }],
    ["an eager message larger than any packet", { kind: EAGER, bytes: eagerBytesMax + 1, payloadBytes: 8 }],
    ["an eager message of an absurd size", { kind: EAGER, bytes: 0x7fff_ffff, payloadBytes: 8 }],
    ["an eager message under the wildcard as its tag", { kind: EAGER, tag: ANY_TAG, bytes: 8, payloadBytes: 8 }],
    ["an envelope under the wildcard as its tag", { kind: RTS, tag: ANY_TAG, bytes: 8, extra: [0, -1] }],
    ["an envelope of less than nothing", { kind: RTS, bytes: -5, extra: [0, -1] }],
    ["an envelope with a pointer outside all memory", { kind: RTS, bytes: 64, extra: [0, far] }],
    ["an envelope whose end wraps around", { kind: RTS, bytes: 0x7fff_ffff, extra: [0, 64] }],
    ["a cancellation of a record below the table", { kind: CANCEL, context: -1 }],
    ["a refusal of a record below the table", { kind: PacketKind.REFUSAL, context: -1 }],
    ["the first kind that there is not", { kind: Math.max(...Object.values(PacketKind)) + 1 }],
    ["kind 127", { kind: 127 }],
    ["kind 255, replica and incarnation around it", { kind: 0x0102_03ff }],
  ];
  for (const [what, packet] of wrongs) {
    for (const way of ["posted", "now", "unexpected"] as const) {
      it(`${what}; ${way}`, () => {
        const hand = new ByHand(together);
        const engine = hand.engine(1);
        const { memory } = hand.world.processes[1]!;
        // Under a wildcard it would be taken if it were possible.
        const receive = way === "posted" ? hand.receive({ at: 1, source: ANY_SOURCE, tag: ANY_TAG }) : -1;
        if (way === "now") freeze(hand, 1);
        inject(hand, { context: 2, from: 0, to: 1, ...packet });
        hand.settle();
        const send = hand.send({ from: 0, to: 1, bytes: 40, number: 3 });
        hand.settle();
        if (way === "now") {
          const buffer = memory.allocate(eagerBytesMax * 4);
          equal(engine.receiveNow(buffer, eagerBytesMax * 4, ANY_SOURCE, ANY_TAG, 2), Now.DONE);
          deepEqual([engine.lastSource, engine.lastBytes, engine.lastError], [0, 40, 0]);
          memory.free(buffer);
        } else {
          const taken = receive < 0 ? hand.receive({ at: 1, source: 0 }) : (receive as RecordId);
          deepEqual(hand.end(1, taken, { number: 3 }), { source: 0, tag: 0, bytes: 40, error: 0, cancelled: false });
        }
        equal(engine.arrivals.refused, 1);
        hand.end(0, send);
        deepEqual(hand.leftBehind(), []);
      });
    }
  }

  it("an eager message without the payload it promises", () => {
    const hand = new ByHand(apart);
    const receive = hand.receive({ at: 1, source: 0 });
    inject(hand, { from: 0, to: 1, kind: EAGER, context: 2, bytes: 40 });
    hand.settle();
    deepEqual([hand.complete(1, receive), hand.engine(1).arrivals.refused], [false, 1]);
  });

  for (const source of [-1, 3, 0x7fff_ffff, -0x8000_0000]) {
    it(`anything from rank ${source}, on every way`, () => {
      for (const kind of [...Object.values(PacketKind).filter((kind) => kind !== PacketKind.VOID), 99]) {
        for (const way of ["posted", "now"] as const) {
          const hand = new ByHand(apart);
          const { engine, transport, memory } = hand.world.processes[1]!;
          const receive = way === "posted" ? hand.receive({ at: 1, source: ANY_SOURCE, tag: ANY_TAG }) : -1;
          freeze(hand, 1);
          inject(hand, { from: 0, to: 1, kind, context: 2, bytes: 8, payloadBytes: 8 });
          hand.settle();
          transport.words[transport.peek() + SOURCE] = source;
          if (way === "posted") {
            engine.progress();
            equal(hand.complete(1, receive as RecordId), false);
          } else equal(engine.receiveNow(memory.allocate(64), 64, ANY_SOURCE, ANY_TAG, 2), Now.NOTHING);
          equal(engine.arrivals.refused, 1);
          equal(engine.unexpected.count, 0);
        }
      }
    });
  }
});

describe("pointers", () => {
  for (const way of ["posted", "unexpected"] as const) {
    it(`of somebody whose memory is not shared mean nothing: the message comes in pieces; ${way}`, () => {
      const hand = new ByHand(together);
      const early = way === "posted" ? hand.receive({ at: 1, source: 2 }) : null;
      freeze(hand, 1);
      const send = hand.send({ from: 2, to: 1, bytes: 30_000, number: 4, mode: SendMode.SYNCHRONOUS });
      hand.settle();
      const { transport } = hand.world.processes[1]!;
      equal(transport.words[transport.peek() + EXTRA + 1], -1);
      transport.words[transport.peek() + EXTRA + 1] = 4096;
      thaw(hand, 1);
      const receive = early ?? hand.receive({ at: 1, source: 2 });
      hand.settle();
      equal(hand.end(1, receive, { number: 4 }).bytes, 30_000);
      hand.end(2, send);
      equal(transport.marks.fetch, 0);
      equal(hand.engine(1).arrivals.refused, 0);
      deepEqual(hand.leftBehind(), []);
    });
  }
});

describe("where a piece may land", () => {
  it("only in a receive that waits for it, there where the last one ended", () => {
    const { hand, receive, send, free } = takesPieces();
    const engine = hand.engine(1);
    const offset = [0, 1000, 2000].find((each) => !Number.isNaN(engine.transfers.landingOf(receive, each, 1000)))!;
    ok(offset > 0, "some pieces have come");
    const wrong = [
      [receive, offset, bytes - offset + 1],
      [receive, 0, 1000],
      [receive, offset + 1, 8],
      [receive, offset, 0],
      [receive, offset, -1],
      [receive, -1, 8],
      [free, offset, 8],
      [-1, offset, 8],
      [1 << 24, offset, 8],
    ] as const;
    for (const [record, at, length] of wrong)
      ok(Number.isNaN(engine.transfers.landingOf(record, at, length)), `${record} ${at}`);
    arrivesWhole({ hand, receive, send, free });
    ok(Number.isNaN(engine.transfers.landingOf(receive, 0, 8)));
  });

  it("not in a receive whose sender writes by itself", () => {
    const { hand, receive } = awaitsBytes(together, { sendLent: true });
    ok(Number.isNaN(hand.engine(1).transfers.landingOf(receive, 0, 8)));
  });
});

describe("packets that come too late are no mistake", () => {
  it("what the dead still say is dropped, and not counted", () => {
    const hand = new ByHand(apart);
    const send = hand.send({ from: 0, to: 1, bytes, number: 1 });
    hand.settle();
    freeze(hand, 0);
    hand.world.processes[0]!.core.peerFailed({ rank: 1, replica: 0 }, 0);
    inject(hand, { from: 1, to: 0, kind: RELEASE, context: send });
    hand.settle();
    thaw(hand, 0);
    equal(hand.engine(0).arrivals.refused, 0);
  });

  it("an answer to cancel that came when the message was matched already", () => {
    const hand = new ByHand(apart);
    const send = hand.send({ from: 0, to: 1, bytes, number: 1 });
    const receive = hand.receive({ at: 1, source: 0 });
    hand.engine(0).cancel(send);
    hand.settle();
    equal(hand.end(0, send).cancelled, false);
    hand.end(1, receive, { number: 1 });
    deepEqual([hand.engine(0).arrivals.refused, hand.engine(1).arrivals.refused], [0, 0]);
    deepEqual(hand.leftBehind(), []);
  });
});
