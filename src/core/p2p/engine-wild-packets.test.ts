import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import type { SimProcess } from "../../sim/sim-process.ts";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { WorldOptions } from "../../sim/world.ts";
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import fc from "../base/testing/properties.ts";
import { R_PEER, SendMode } from "../request/records.ts";
import { KIND, kindOf, PacketKind } from "../wire/packet.ts";
import { inject, type MadePacket } from "./testing/packets.ts";

/** Ranks 0 and 1 exchange messages; rank 2, on a node of its own, sends packets of every kind with any words. */
const stranger = 2;
const worlds: readonly WorldOptions[] = [
  { ranks: 3, nodes: 3, cost: { pieceBytesMax: 1_000 } },
  { ranks: 3, nodes: 2, sharesInside: true, cost: { helpBytesMin: 20_000 } },
  { ranks: 3, nodes: 2, cost: { channelBytesMax: 1_500, pieceBytesMax: 700, fullChance: 0.2 } },
];
/** Receives of any source are in a context of their own, which the stranger's messages do not name. */
const aloof = 123_456;

interface Honest {
  readonly from: number;
  readonly bytes: number;
  readonly receiveFirst: boolean;
  readonly sendLent: boolean;
  readonly receiveLent: boolean;
  readonly synchronous: boolean;
  /** Of the receiver, in its own context. */
  readonly anySource: boolean;
}

interface Wild extends MadePacket {
  readonly afterNs: number;
}

const honest: fc.Arbitrary<Honest> = fc.record({
  from: fc.constantFrom(0, 1),
  bytes: fc.constantFrom(0, 8, 3_000, 9_000, 30_000),
  receiveFirst: fc.boolean(),
  sendLent: fc.boolean(),
  receiveLent: fc.boolean(),
  synchronous: fc.boolean(),
  anySource: fc.boolean(),
});

/** Mostly numbers that could mean something: of a request, of a piece. */
const word = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -2, max: 24 }) },
  { weight: 2, arbitrary: fc.constantFrom(700, 1_000, 8_192, 30_000, 0x7fff_ffff, -0x8000_0000) },
  { weight: 1, arbitrary: fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }) },
);

/** Who says that a communicator is revoked is believed, so that is left out; core/process/revocations.test.ts has strangers. */
const isRevoke = (kind: number): boolean => kindOf(kind) === PacketKind.REVOKE;
const believable = Object.values(PacketKind).filter((kind) => kind !== PacketKind.REVOKE);

const wild: fc.Arbitrary<Wild> = fc
  .record({
    from: fc.constant(stranger),
    to: fc.constantFrom(0, 1),
    kind: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...believable) },
      { weight: 1, arbitrary: fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }).filter((kind) => !isRevoke(kind)) },
    ),
    context: word,
    tag: word,
    bytes: word,
    sequence: word,
    words: fc.array(word, { minLength: 8, maxLength: 8 }),
    payloadBytes: fc.constantFrom(0, 0, 8, 700),
    afterNs: fc.integer({ min: 0, max: 8_000 }),
  })
  .map(({ words, ...packet }) => ({ ...packet, extra: packet.payloadBytes === 0 ? words : [] }));

/** Requests that nobody answers: they must wait for ever, whatever the stranger says. */
function unanswered(hand: ByHand): { rank: number; request: RecordId }[] {
  const context = 4;
  const send = { bytes: 9_000, tag: 77, context };
  return [
    { rank: 0, request: hand.receive({ at: 0, source: 1, room: 64, tag: 78, context }) },
    { rank: 1, request: hand.receive({ at: 1, source: ANY_SOURCE, room: 64, tag: ANY_TAG, context: aloof + 2 }) },
    { rank: 0, request: hand.send({ from: 0, to: 1, ...send }) },
    { rank: 1, request: hand.send({ from: 1, to: 0, ...send, mode: SendMode.SYNCHRONOUS, lent: true }) },
  ];
}

describe("packets of every kind with any words, among honest messages", () => {
  const refused = new Map<number, number>();

  for (const world of worlds) {
    it(`throw nothing, complete nothing and damage nothing: ${JSON.stringify(world)}`, () => {
      const messages = fc.array(honest, { minLength: 1, maxLength: 8 });
      const noise = fc.array(wild, { minLength: 1, maxLength: 60 });
      fc.assert(
        fc.property(fc.nat(), messages, noise, (seed, sent, strange) => {
          const hand = new ByHand({ ...world, seed });
          const waiting = unanswered(hand);
          const pairs = sent.map((message, number) => start(hand, message, number));
          for (const rank of [0, 1]) noteRefused(hand.world.processes[rank]!, refused);
          makeNoise(hand, strange);
          hand.settle();
          for (const pair of pairs) pair.receive ??= pair.post();
          hand.settle();
          pairs.forEach(({ message, send, receive }, number) => {
            const { from, bytes } = message;
            deepEqual(hand.end(1 - from, receive!, { number }), {
              source: from,
              tag: number,
              bytes,
              error: 0,
              cancelled: false,
            });
            equal(hand.end(from, send).error, 0);
          });
          for (const { rank, request } of waiting) {
            equal(hand.complete(rank, request), false, `request ${request} of rank ${rank} is complete`);
            hand.engine(rank).cancel(request);
          }
          hand.settle();
          for (const { rank, request } of waiting) equal(hand.end(rank, request).cancelled, true);
          onlyTheStrangersAreLeft(hand);
        }),
        { numRuns: tries(60, 150) },
      );
    });
  }

  it("were refused in every kind that can be wrong", () => {
    const { CTS, FRAGMENT, RELEASE, FINISH, HELP, CANCEL_ANSWER, EAGER, RTS, REFUSAL } = PacketKind;
    for (const kind of [CTS, FRAGMENT, RELEASE, FINISH, HELP, CANCEL_ANSWER, EAGER, RTS, REFUSAL])
      ok((refused.get(kind) ?? 0) > 0, `no packet of kind ${kind} was refused`);
  });
});

/** Posts the send, and the receive where it comes first. */
function start(hand: ByHand, message: Honest, number: number) {
  const { from, bytes, receiveFirst, receiveLent, sendLent, synchronous, anySource } = message;
  const context = anySource ? aloof : 2;
  const mode = synchronous ? SendMode.SYNCHRONOUS : SendMode.STANDARD;
  const source = anySource ? ANY_SOURCE : from;
  const post = (): RecordId =>
    hand.receive({ at: 1 - from, source, tag: number, room: bytes, context, lent: receiveLent });
  const receive = receiveFirst ? post() : null;
  const send = hand.send({ from, to: 1 - from, bytes, number, tag: number, context, mode, lent: sendLent });
  return { message, post, receive, send };
}

/** The stranger's packets, one after the other while the messages travel. */
function makeNoise(hand: ByHand, strange: readonly Wild[]): void {
  hand.world.start(stranger, function* ({ compute }) {
    for (const packet of strange) {
      yield compute(packet.afterNs);
      inject(hand, packet);
    }
  });
}

/** Counts by kind what a process refuses: it releases each packet right after it has taken it. */
function noteRefused({ engine, transport }: SimProcess, refused: Map<number, number>): void {
  const release = transport.release.bind(transport);
  let before = 0;
  transport.release = () => {
    const kind = kindOf(transport.words[transport.peek() + KIND]!);
    if (engine.arrivals.refused !== before) refused.set(kind, (refused.get(kind) ?? 0) + 1);
    before = engine.arrivals.refused;
    release();
  };
}

function onlyTheStrangersAreLeft(hand: ByHand): void {
  for (const rank of [0, 1]) {
    const engine = hand.engine(rank);
    let envelopes = 0;
    engine.unexpected.forEach((envelope) => {
      equal(engine.records.get(envelope, R_PEER), stranger);
      envelopes++;
    });
    equal(engine.records.count, envelopes, `records of rank ${rank}`);
    equal(hand.world.processes[rank]!.memory.bytesAllocated, engine.store.bytes);
    equal(hand.world.processes[rank]!.memory.viewsLent, 0);
  }
}
