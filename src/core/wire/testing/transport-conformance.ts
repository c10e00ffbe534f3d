/**
 * What every `Transport` must do, as cases that any implementation's test runs: rings with a thread for each rank, sockets
 * between processes, the simulated network in one thread.
 *
 * A case has a role for each rank: a generator that does what it can and yields when it has to wait. The test runs
 * each role to its end in whatever world it tests, waiting (or passing the turn) at every yield; `check` throws what that
 * test framework throws. A rank listed in `dies` is dead once its role has ended, and the world must say so to its
 * transports the way it does in earnest; all others stay until every role has ended.
 */
import type { Pointer } from "../../base/brand.ts";
import type { Identity } from "../../base/identity.ts";
import {
  BYTES,
  CONTEXT,
  EXTRA,
  incarnationOf,
  KIND,
  kindOf,
  PAYLOAD,
  PacketKind,
  replicaOf,
  SEQUENCE,
  type Sender,
  SOURCE,
  senderOf,
  TAG,
} from "../packet.ts";
import type { Transport } from "../transport.ts";

/** The part of a process's memory the cases use. */
interface ConformanceMemory {
  allocate(bytes: number): Pointer;
  lend(view: Uint8Array): Pointer;
  view(pointer: Pointer, bytes: number): Uint8Array;
  toPayload(payload: number, from: Pointer, offset: number, bytes: number): void;
  fromPayload(to: Pointer, offset: number, payload: number, bytes: number): void;
}

/** One rank's end. */
export interface ConformanceEnd {
  readonly rank: number;
  readonly transport: Transport;
  readonly memory: ConformanceMemory;
  /** Where pieces for that receive request may land, for transports with a `Landing`; others do nothing. */
  expect(receive: number, pointer: Pointer): void;
  /** Throws when the claim is false. */
  check(claim: boolean, what: string): void;
}

export type Role = Generator<void, void, void>;

export interface ConformanceCase {
  readonly name: string;
  /** Processes. */
  readonly ranks: number;
  /** As whom each of them speaks: as the only replica of the rank with its number, in its first life, unless given. */
  readonly identities?: readonly Identity[];
  readonly dies?: readonly number[];
  role(end: ConformanceEnd): Role;
}

/** Byte `at` of the message with that number: no two messages and no two neighbours look alike. */
const byteAt = (number: number, at: number) => (number * 31 + at * 7 + (at >> 8)) & 0xff;

/** A loop of its own: callbacks for millions of bytes would be most of these tests. */
function fill(view: Uint8Array, number: number): void {
  for (let at = 0; at < view.length; at++) view[at] = byteAt(number, at);
}

/** The first byte that is not that message's, or −1. */
function wrongByte(view: Uint8Array, number: number): number {
  for (let at = 0; at < view.length; at++) if (view[at] !== byteAt(number, at)) return at;
  return -1;
}

function* send({ transport, memory }: ConformanceEnd, to: number, number: number, bytes: number, as?: Sender): Role {
  let packet = transport.reserve(to, bytes);
  while (packet < 0) {
    yield;
    packet = transport.reserve(to, bytes);
  }
  const words = transport.words;
  words[packet + KIND] = PacketKind.EAGER;
  words[packet + CONTEXT] = 5;
  words[packet + TAG] = -number;
  words[packet + BYTES] = bytes;
  words[packet + SEQUENCE] = number;
  if (bytes > 0) {
    const view = new Uint8Array(bytes);
    fill(view, number);
    memory.toPayload(transport.payload, memory.lend(view), 0, bytes);
  }
  transport.commit(to, as);
}

/** The next packet, which must be the message with that number from `source`, or from anybody when it is −1. */
function* receive(end: ConformanceEnd, source: number, numberOf: (source: number) => number): Role {
  const { transport, memory, check } = end;
  while (transport.peek() < 0) yield;
  const packet = transport.peek();
  const words = transport.words;
  const from = words[packet + SOURCE]!;
  const number = numberOf(from);
  const bytes = words[packet + BYTES]!;
  check(source < 0 || from === source, `a packet from ${from}, expected one from ${source}`);
  check(kindOf(words[packet + KIND]!) === PacketKind.EAGER, "the kind arrives unchanged");
  check(words[packet + SEQUENCE] === number, `packet ${words[packet + SEQUENCE]} of ${from}, expected ${number}`);
  check(words[packet + CONTEXT] === 5 && words[packet + TAG] === -number, "header words arrive unchanged");
  if (bytes > 0) {
    const view = new Uint8Array(bytes);
    memory.fromPayload(memory.lend(view), 0, words[packet + PAYLOAD]!, bytes);
    const wrong = wrongByte(view, number);
    check(wrong < 0, `byte ${wrong} of ${bytes} in packet ${number} of ${from} arrives unchanged`);
  }
  check(transport.peek() === packet, "a packet stays in place until it is released");
  transport.release();
}

const sizesTo = (most: number) =>
  [...Array(140).keys(), 255, 256, 257, 1023, 1024, 1025, 4095, 4096, most - 1, most].filter((bytes) => bytes <= most);

const fifo: ConformanceCase = {
  name: "packets of a channel arrive in order, each once; between channels there is no order",
  ranks: 3,
  *role(end) {
    const count = 400;
    if (end.rank < 2) {
      for (let number = 0; number < count; number++) yield* send(end, 2, number, (number * 13) % 300);
      return;
    }
    const next = [0, 0];
    for (let left = 2 * count; left > 0; left--) yield* receive(end, -1, (source) => next[source]!++);
    end.check(next[0] === count && next[1] === count, "every packet of both channels arrives");
  },
};

const sizes: ConformanceCase = {
  name: "payloads of every size up to the largest arrive unchanged",
  ranks: 2,
  *role(end) {
    const all = sizesTo(end.transport.eagerBytesMax(1 - end.rank));
    for (const [number, bytes] of all.entries()) {
      if (end.rank === 0) yield* send(end, 1, number, bytes);
      else yield* receive(end, 0, () => number);
    }
  },
};

const full: ConformanceCase = {
  name: "a full channel answers −1 and lets through when the receiver has made room",
  ranks: 2,
  *role(end) {
    const count = 3000;
    // The receiver is slow at first: it sees the packet and leaves it there.
    for (let turn = 0; end.rank === 1 && turn < 40; turn++) {
      end.transport.peek();
      yield;
    }
    for (let number = 0; number < count; number++) {
      if (end.rank === 0) yield* send(end, 1, number, 64);
      else yield* receive(end, 0, () => number);
    }
  },
};

const flood: ConformanceCase = {
  name: "two ranks that flood each other both get through while they keep reading",
  ranks: 2,
  *role(end) {
    const count = 1500;
    let sent = 0;
    let received = 0;
    while (sent < count || received < count) {
      if (sent < count && send(end, 1 - end.rank, sent, 40).next().done === true) sent++;
      else if (received < count && end.transport.peek() >= 0) yield* receive(end, 1 - end.rank, () => received++);
      else yield;
    }
  },
};

const self: ConformanceCase = {
  name: "a rank can send to itself",
  ranks: 2,
  *role(end) {
    for (let number = 0; number < 200; number++) {
      yield* send(end, end.rank, number, number % 120);
      yield* receive(end, end.rank, () => number);
    }
  },
};

const push: ConformanceCase = {
  name: "push delivers all bytes of a large message, from shareable memory and from an ordinary array",
  ranks: 2,
  *role(end) {
    const { transport, memory, rank, check } = end;
    for (const [number, bytes] of [1, 5000, 40_000, 300_001, 1_000_003].entries()) {
      const lent = number % 2 === 0;
      const pointer = lent ? memory.lend(new Uint8Array(bytes)) : memory.allocate(bytes);
      const view = memory.view(pointer, bytes);
      if (rank === 0) {
        fill(view, number);
        for (let offset = 0; offset < bytes; ) {
          const taken = transport.push(1, 70 + number, pointer, offset, bytes - offset);
          check(taken >= 0 && taken <= bytes - offset, "push takes no more than it was offered");
          if (taken === 0) yield;
          offset += taken;
        }
        yield* receive(end, 1, () => number);
        continue;
      }
      end.expect(70 + number, pointer);
      const words = transport.words;
      for (let offset = 0; offset < bytes; ) {
        const packet = transport.peek();
        if (packet < 0) {
          yield;
          continue;
        }
        const isPiece =
          kindOf(words[packet + KIND]!) === PacketKind.FRAGMENT && words[packet + CONTEXT] === 70 + number;
        check(isPiece && words[packet + TAG] === offset, "pieces arrive in order and name their receive and offset");
        const length = words[packet + BYTES]!;
        const payload = words[packet + PAYLOAD]!;
        if (payload !== 0) memory.fromPayload(pointer, offset, payload, length);
        transport.release();
        offset += length;
      }
      const wrong = wrongByte(view, number);
      check(wrong < 0, `byte ${wrong} of ${bytes} pushed arrives unchanged`);
      yield* send(end, 0, number, 0);
    }
  },
};

/** As the engine does it: an envelope with a pointer, a fetch in which the sender may be asked to help, a release. */
const fetch: ConformanceCase = {
  name: "memory that is shared can be fetched, with the other side's help or without, and written",
  ranks: 2,
  *role(end) {
    const { transport, memory, rank, check } = end;
    if (!transport.shares(1 - rank)) return;
    const words = transport.words;
    for (const [number, bytes] of [9000, 200_001, 1 << 20, (1 << 20) + 77].entries()) {
      const pointer = memory.allocate(bytes);
      const view = memory.view(pointer, bytes);
      if (rank === 0) {
        fill(view, number);
        let packet = transport.reserve(1, 0);
        while (packet < 0) {
          yield;
          packet = transport.reserve(1, 0);
        }
        words[packet + KIND] = PacketKind.RTS;
        words[packet + BYTES] = bytes;
        words[packet + EXTRA + 1] = pointer;
        transport.commit(1);
        for (let isReleased = false; !isReleased; ) {
          const answer = transport.peek();
          if (answer < 0) {
            yield;
            continue;
          }
          if (kindOf(words[answer + KIND]!) === PacketKind.HELP) {
            check(words[answer + CONTEXT] === 30 + number, "a call for help names the send request");
            transport.help(1, answer, pointer);
          } else isReleased = true;
          transport.release();
        }
        check(
          view.every((value) => value === 0),
          "the peer has written zeros over the whole message",
        );
        continue;
      }
      while (transport.peek() < 0) yield;
      const envelope = transport.peek();
      const peerPointer = words[envelope + EXTRA + 1]!;
      transport.release();
      if (!transport.fetch(0, 50 + number, 30 + number, pointer, peerPointer, bytes)) {
        while (!transport.fetched(50 + number)) yield;
      }
      const wrong = wrongByte(view, number);
      check(wrong < 0, `byte ${wrong} of ${bytes} fetched is right`);
      view.fill(0);
      transport.put(0, peerPointer, pointer, bytes);
      yield* send(end, 0, number, 0);
    }
  },
};

const dead: ConformanceCase = {
  name: "a channel to a dead rank takes packets and drops them; the others go on",
  ranks: 3,
  dies: [1],
  *role(end) {
    if (end.rank === 1) return;
    const other = 2 - end.rank;
    for (let number = 0; number < 1000; number++) {
      yield* send(end, 1, number, number % 200);
      if (end.rank === 0) yield* send(end, other, number, 30);
      else yield* receive(end, other, () => number);
    }
    // A large message to the dead is swallowed as well.
    const bytes = 500_000;
    const pointer = end.memory.allocate(bytes);
    for (let offset = 0; offset < bytes; ) {
      const taken = end.transport.push(1, 9, pointer, offset, bytes - offset);
      if (taken === 0) yield;
      offset += taken;
    }
  },
};

/** The next packet, which must be sent as that one; its kind. */
function* receiveFrom({ transport, check }: ConformanceEnd, { rank, replica, incarnation }: Identity) {
  while (transport.peek() < 0) yield;
  const packet = transport.peek();
  const { words } = transport;
  const kind = words[packet + KIND]!;
  const said = `rank ${words[packet + SOURCE]}, replica ${replicaOf(kind)}, life ${incarnationOf(kind)}`;
  const wanted = `rank ${rank}, replica ${replica}, life ${incarnation}`;
  check(said === wanted, `a packet of kind ${kindOf(kind)} from ${said}, expected one from ${wanted}`);
  return { packet, kind: kindOf(kind) };
}

const someone: Identity = { rank: 5, replica: 3, incarnation: 0x8001 };
const receiver: Identity = { rank: 2, replica: 255, incarnation: 0xffff };
const another: Identity = { rank: 70_000, replica: 1, incarnation: 9 };

const identity: ConformanceCase = {
  name: "every packet says as whom it was sent, pieces of large messages too: its sender, or one that it speaks for",
  ranks: 2,
  identities: [someone, receiver],
  *role(end) {
    const { transport, memory, rank, check } = end;
    const sizes = [0, 40, 1_000];
    const large = [3_000, 1_000_003];
    if (rank === 0) {
      for (const as of [undefined, senderOf(another)]) {
        for (const [number, bytes] of sizes.entries()) yield* send(end, 1, number, bytes, as);
        for (const [number, bytes] of large.entries()) {
          const pointer = memory.allocate(bytes);
          for (let offset = 0; offset < bytes; ) {
            const taken = transport.push(1, 80 + number, pointer, offset, bytes - offset, as);
            if (taken === 0) yield;
            offset += taken;
          }
        }
      }
      const { kind } = yield* receiveFrom(end, receiver);
      check(kind === PacketKind.EAGER, "the last word is the receiver's");
      transport.release();
      return;
    }
    for (const from of [someone, another]) {
      for (const _ of sizes) {
        const { kind } = yield* receiveFrom(end, from);
        check(kind === PacketKind.EAGER, "messages come first");
        transport.release();
      }
      for (const [number, bytes] of large.entries()) {
        end.expect(80 + number, memory.allocate(bytes));
        for (let left = bytes; left > 0; ) {
          const { packet, kind } = yield* receiveFrom(end, from);
          check(kind === PacketKind.FRAGMENT, "then the pieces of a large one");
          left -= transport.words[packet + BYTES]!;
          transport.release();
        }
      }
    }
    yield* send(end, 0, 0, 8);
  },
};

export const transportCases: readonly ConformanceCase[] = [fifo, sizes, full, flood, self, push, fetch, dead, identity];
