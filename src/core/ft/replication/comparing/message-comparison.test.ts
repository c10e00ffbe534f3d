/** D1: when a message is let in, and which others wait for it. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { RecordId } from "../../../base/brand.ts";
import { Arrival } from "../../../request/decisions.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_MODE,
  R_PEER,
  R_REPLICA,
  R_SEQUENCE,
  R_TAG,
  RecordFlag,
  RecordKind,
  Records,
} from "../../../request/records.ts";
import {
  BYTES,
  CONTEXT,
  controlWords,
  KIND,
  PacketKind,
  SEQUENCE,
  SOURCE,
  senderOf,
  TAG,
} from "../../../wire/packet.ts";
import { ModelMemory } from "../../channel-memory/testing/model-memory.ts";
import { ReceivedNumbers } from "../../received-numbers.ts";
import { Membership } from "../membership.ts";
import { MessageComparison, type Suspicion } from "./message-comparison.ts";
import { envelopeHash } from "./message-hash.ts";
import { envelopeShift } from "./sent-votes.ts";

const program = 2;
const collectives = 3;
const sender = 0;
const voteKind = 11;

interface Message {
  readonly sequence: number;
  readonly context: number;
  readonly tag: number;
}

/** A process of rank 1, in world 0, that gets empty messages of rank 0, which has three replicas. */
class Receiver {
  readonly membership = new Membership([3, 3]);
  readonly suspicions: Suspicion[] = [];
  /** Numbers of messages in the order in which they were let in; those that are thrown away. */
  readonly letIn: number[] = [];
  readonly spoilt: number[] = [];
  readonly #numbers = new ReceivedNumbers();
  readonly #records = new Records();
  readonly #comparison: MessageComparison;

  constructor() {
    const records = this.#records;
    this.#comparison = new MessageComparison({
      ports: {
        records,
        memory: new ModelMemory(),
        tell: () => {},
        toldBytes: () => new Uint8Array(0),
        letIn: (envelope) => void this.letIn.push(records.get(envelope, R_SEQUENCE)),
        spoil: (envelope) => {
          this.spoilt.push(records.get(envelope, R_SEQUENCE));
          records.addFlag(envelope, RecordFlag.BROKEN);
        },
      },
      membership: this.membership,
      rank: 1,
      isWhole: false,
      numbersOf: () => this.#numbers,
      held: () => {},
      suspect: (suspicion) => void this.suspicions.push(suspicion),
    });
  }

  /** It comes from replica 0. */
  comes({ sequence, context, tag }: Message): void {
    const packet = new Int32Array(controlWords);
    packet[KIND] = PacketKind.EAGER | senderOf({ rank: sender, replica: 0, incarnation: 0 }).bits;
    packet[SOURCE] = sender;
    packet[CONTEXT] = context;
    packet[TAG] = tag;
    packet[SEQUENCE] = sequence;
    packet[BYTES] = 0;
    this.#numbers.add(sequence);
    if (this.#comparison.arrived(packet, 0) === Arrival.TAKE) this.letIn.push(sequence);
    else this.#comparison.putAside(this.#envelope({ sequence, context, tag }));
  }

  #envelope({ sequence, context, tag }: Message): RecordId {
    const envelope = this.#records.take(RecordKind.ENVELOPE);
    const words: readonly (readonly [number, number])[] = [
      [R_PEER, sender],
      [R_REPLICA, 0],
      [R_SEQUENCE, sequence],
      [R_CONTEXT, context],
      [R_TAG, tag],
      [R_BYTES, 0],
      [R_MODE, PacketKind.EAGER],
    ];
    for (const [field, value] of words) this.#records.put(envelope, field, value);
    this.#records.addFlag(envelope, RecordFlag.ASIDE);
    return envelope;
  }

  /** The others have sent it as well. */
  hears({ sequence, context, tag }: Message, replicas: readonly number[] = [1, 2]): void {
    const first = (envelopeHash(context, tag, 0) << envelopeShift) | voteKind;
    for (const replica of replicas) this.#comparison.hear(sender, replica, first, sequence, 0);
  }

  comesAgain(replica: number, sequence: number): void {
    this.#comparison.arrivedAgain(sender, replica, sequence);
  }
}

test("D1 messages of two collectives of a communicator do not wait for each other", () => {
  const receiver = new Receiver();
  const late = { sequence: 6, context: collectives, tag: 5 };
  const early = { sequence: 5, context: collectives, tag: 1 << 30 };
  // The other replicas have posted the second of them, and wait for it to be taken before they post the first.
  receiver.comes(late);
  receiver.comes(early);
  receiver.hears(early);
  deepEqual(receiver.letIn, [5]);
  receiver.hears(late);
  deepEqual(receiver.letIn, [5, 6]);
});

test("D1 messages of one collective wait for each other, and so do all that a receive of any tag may take", () => {
  for (const { context, tags } of [
    { context: collectives, tags: [5, 5] },
    { context: program, tags: [5, 6] },
  ] as const) {
    const receiver = new Receiver();
    const [first, second] = tags.map((tag, sequence) => ({ sequence, context, tag })) as [Message, Message];
    receiver.comes(first);
    receiver.hears(second);
    receiver.comes(second);
    deepEqual(receiver.letIn, []);
    receiver.hears(first);
    deepEqual(receiver.letIn, [0, 1]);
  }
});

test("D1 nothing overtakes a message whose envelope is wrong, wherever it belongs", () => {
  const receiver = new Receiver();
  const right = { sequence: 0, context: collectives, tag: 4 };
  const next = { sequence: 1, context: collectives, tag: 4 };
  receiver.comes({ ...right, tag: 4 ^ 64 });
  receiver.hears(right);
  deepEqual(receiver.spoilt, [0]);
  deepEqual(
    receiver.suspicions.map(({ accused }) => accused),
    [0],
  );
  receiver.hears(next);
  receiver.comes(next);
  deepEqual(receiver.letIn, []);
});

test("D1 a message that waits to be judged gives its place to the substitute's when its sender is dead", () => {
  const receiver = new Receiver();
  receiver.comes({ sequence: 0, context: program, tag: 4 });
  // As long as its sender lives it is that one's to send.
  receiver.comesAgain(1, 0);
  equal(receiver.spoilt.length, 0);
  receiver.membership.die(sender, 0);
  receiver.comesAgain(1, 0);
  deepEqual(receiver.spoilt, [0]);
  // It is thrown away once.
  receiver.comesAgain(1, 0);
  deepEqual(receiver.spoilt, [0]);
});
