/** D1: votes that are whole messages, in packets of any size. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { filledBytes } from "../../../../../test/filled-bytes.ts";
import type { Pointer } from "../../../base/brand.ts";
import type { ProcessName } from "../../../base/identity.ts";
import type { Told } from "../../../request/decisions.ts";
import {
  BYTES,
  CONTEXT,
  controlWords,
  EXTRA,
  KIND,
  PacketKind,
  SEQUENCE,
  SOURCE,
  senderOf,
  TAG,
} from "../../../wire/packet.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import { KeptSend } from "../sending/kept-send.ts";
import { areSame } from "./same-bytes.ts";
import { Testimonies } from "./testimonies.ts";
import { isAsk, WholeVotes } from "./whole-votes.ts";

const speaker = { rank: 0, replica: 1, incarnation: 0 };

/** Bytes that are no NaN. */
const message = (length: number): Uint8Array => filledBytes(length, (at) => (at * 37 + 11) & 0x3f);

/** One replica speaks, one process hears; what is said of message 7, which has these bytes. */
function hear(content: Uint8Array, room: number) {
  const testimonies = new Testimonies();
  const kept = new KeptSend();
  Object.assign(kept, { dest: 3, sequence: 7, context: 2, tag: 5, bytes: content.length, pointer: 0 as Pointer });
  const said: Told[] = [];
  const ports = {
    memory: { view: (at: number, bytes: number) => content.subarray(at, at + bytes) },
    toldBytesMax: () => room,
    tell: (_: ProcessName, told: Told) =>
      void said.push({ ...told, ...(told.payload && { payload: told.payload.slice() }) }),
  } as unknown as ProtocolPorts;
  const votes = new WholeVotes(ports);
  votes.cast(kept);
  votes.tell(kept, 1);
  let packets = 0;
  let asked = 0;
  let isWhole = false;
  while (said.length > 0) {
    const told = said.shift()!;
    packets++;
    ok((told.payload?.length ?? 0) <= room, `a payload of ${told.payload?.length} bytes`);
    equal(isWhole, false, "nothing is said when all is said");
    const words = wordsOf(told);
    isWhole = testimonies.hear(
      {
        toldBytes: () => told.payload ?? new Uint8Array(0),
        tell: (to, back) => {
          deepEqual(to, { rank: speaker.rank, replica: speaker.replica });
          ok(isAsk(back.a));
          asked++;
          votes.answer(kept, 0, back.c!);
        },
      },
      words,
      0,
    );
  }
  return { isWhole, packets, asked, votes, testimony: testimonies.find(7, speaker.replica)! };
}

function wordsOf({ a, b = 0, c = 0, d = 0, e = 0, payload }: Told): Int32Array {
  const words = new Int32Array(controlWords);
  words[KIND] = PacketKind.PROTOCOL | senderOf(speaker).bits;
  words[SOURCE] = speaker.rank;
  words[CONTEXT] = a;
  words[TAG] = b;
  words[SEQUENCE] = c;
  words[BYTES] = payload?.length ?? 0;
  words[EXTRA] = d;
  words[EXTRA + 1] = e;
  return words;
}

describe("D1 votes that are whole messages", () => {
  for (const room of [0, 4, 8, 12, 13, 16, 64, 1_000, 128 << 10]) {
    it(`D1 all bytes arrive in packets with room for ${room} bytes, and no more are under way than asked for`, () => {
      for (const length of [0, 1, 7, 8, 9, 12, 13, 63, 64, 65, 1_000, 5_003]) {
        const content = message(length);
        const { isWhole, testimony, votes } = hear(content, room);
        ok(isWhole, `${length} bytes`);
        ok(testimony.hasEnvelope(2, 5, length));
        deepEqual(testimony.content, content);
        equal(votes.wholeBytes, length);
      }
    });
  }

  it("D1 a large message comes in windows, each of which is asked for", () => {
    const content = message(1_000_001);
    const { isWhole, testimony, asked, packets } = hear(content, 128 << 10);
    ok(isWhole && areSame(testimony.content, content));
    equal(asked, 3);
    ok(packets < 40, `${packets} packets`);
  });

  it("D1 every bit of a message counts, aligned or not, but the sign of a NaN that arithmetic makes", () => {
    for (const offset of [0, 1, 4]) {
      const there = new Uint8Array(200);
      const bytes = message(41);
      there.set(bytes, offset);
      const other = there.subarray(offset, offset + 41);
      ok(areSame(bytes, other));
      for (let bit = 0; bit < 8 * bytes.length; bit++) {
        other[bit >> 3]! ^= 1 << (bit & 7);
        ok(!areSame(bytes, other), `bit ${bit}`);
        other[bit >> 3]! ^= 1 << (bit & 7);
      }
    }
    const nan = (sign: number): Uint8Array => Uint8Array.of(0, 0, 0, 0, 0, 0, 0xf8, 0x7f | sign, 1);
    ok(areSame(nan(0), nan(0x80)));
    ok(!areSame(nan(0), nan(0).subarray(0, 8)));
  });
});
