import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { timeLimit } from "../../../test/patience.ts";
import {
  Appended,
  type ChannelRingOptions,
  createChannelRing,
  enterRing,
  Head,
  headWords,
  incomingAt,
  type SharedChannel,
} from "./channel-ring.ts";
import { ChannelThread } from "./channel-thread.ts";
import { RingIncoming, RingOutgoing } from "./ring-streams.ts";

const newBell = () => new Int32Array(new SharedArrayBuffer(4));
const create = (options: Omit<ChannelRingOptions, "retention">) =>
  createChannelRing({ retention: "until-trimmed", ...options });

if (isMainThread) describe("the rings of a channel's client", tests);
else appendMany(workerData);

/** The second writer: this file again, in a thread of its own. */
function appendMany({ channel, bell, count }: { channel: SharedChannel; bell: Int32Array; count: number }): void {
  const writer = new ChannelThread(channel, bell);
  for (let i = 0; i < count; i++) writer.appendWhole([3, 1, i]);
}

/** As the main thread does. */
class Reader {
  readonly #channel: SharedChannel;
  readonly #calls: ReturnType<typeof enterRing>;
  #from: number;

  constructor(channel: SharedChannel) {
    this.#channel = channel;
    this.#calls = enterRing(channel);
    this.#from = this.#calls.stable();
  }

  take(): { readonly from: number; readonly part: Int32Array } | null {
    const from = this.#from;
    const view = new Int32Array(this.#channel.memory.buffer);
    const count = (this.#calls.heed() - from) | 0;
    if (count === 0) return null;
    const mask = this.#channel.words - 1;
    const part = Int32Array.from({ length: count }, (_, i) => view[headWords + ((from + i) & mask)]!);
    this.#from = (from + count) | 0;
    this.#calls.free(this.#from);
    return { from, part };
  }
}

function tests(): void {
  it("L1 gives what was appended, from where the life before had come to", () => {
    const channel = create({ position: 100 });
    const writer = new ChannelThread(channel, newBell());
    const reader = new Reader(channel);
    const calls = enterRing(channel);
    equal(reader.take(), null);
    writer.append6(6, 3, 1, 7, 1, 9);
    equal(writer.born, 106);
    equal(writer.stable, 100);
    deepEqual(reader.take(), { from: 100, part: Int32Array.of(6, 3, 1, 7, 1, 9) });
    equal(reader.take(), null);
    calls.acknowledge(106);
    equal(writer.stable, 106);
    calls.acknowledge(103);
    equal(writer.stable, 106, "acknowledgements never go back");
  });

  it("L1 words count as sent when they have been copied: the main thread frees them then, whoever drives, and others write there", () => {
    const channel = create({ position: 0, words: 16 });
    const calls = enterRing(channel);
    const writer = new ChannelThread(channel, newBell());
    writer.appendWhole([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    const sending = new RingOutgoing(channel, {
      ...calls,
      setSent(position) {
        calls.setSent(position);
        calls.free(position);
        writer.appendWhole([21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]);
      },
    });
    const into = new Int32Array(12);
    equal(sending.send(into, 0, 12), 12);
    deepEqual([...into], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it("L1 wraps, and its positions do", () => {
    const channel = create({ position: 0x7ffffffe, words: 16 });
    const writer = new ChannelThread(channel, newBell());
    const reader = new Reader(channel);
    let at = 0x7ffffffe;
    for (let i = 0; i < 20; i++) {
      if (i % 2 === 0) writer.appendWhole([4, i, 2, i]);
      else equal(writer.append(Int32Array.of(0, 4, i, 2, i), 1, 5), 4);
      deepEqual(reader.take(), { from: at, part: Int32Array.of(4, i, 2, i) });
      at = (at + 4) | 0;
    }
    equal(writer.born, at);
  });

  it("L1 who appends what there is room for is told how much that was", () => {
    const channel = create({ position: 5, words: 16 });
    const writer = new ChannelThread(channel, newBell());
    const reader = new Reader(channel);
    equal(writer.append(new Int32Array(20), 0, 20), 16);
    equal(writer.append(new Int32Array(20), 16, 20), 0);
    equal(reader.take()?.part.length, 16);
    equal(writer.append(new Int32Array(20), 16, 20), 4);
  });

  it("L1 a full ring makes its writer wait, and loses nothing (two writers)", timeLimit(20_000), async () => {
    const channel = create({ position: 0, words: 64 });
    const bell = newBell();
    const count = 2000;
    const other = new Worker(new URL(import.meta.url), { workerData: { channel, bell, count } });
    const ended = once(other, "exit");
    const reader = new Reader(channel);
    const seen: number[][] = [[], []];
    const writer = new ChannelThread(channel, bell);
    let own = 0;
    while (seen[0]!.length + seen[1]!.length < 2 * count) {
      for (let i = 0; i < 4 && own < count; i++) writer.appendWhole([3, 0, own++]);
      const part = reader.take()?.part ?? new Int32Array(0);
      for (let at = 0; at < part.length; at += part[at]!) seen[part[at + 1]!]!.push(part[at + 2]!);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
    const all = Array.from({ length: count }, (_, i) => i);
    deepEqual(seen, [all, all]);
  });

  it("L1 words that come back are taken in order, round the end, and no more than there is room for come", () => {
    const channel = create({ position: 0, words: 16, incomingWords: 8 });
    const incoming = new RingIncoming(channel, enterRing(channel));
    equal(incoming.beginAnew(5), true);
    const said = Int32Array.from({ length: 40 }, (_, i) => i);
    const into = new Int32Array(3);
    const heard: number[] = [];
    for (let at = 0; heard.length < 40; ) {
      at += incoming.receive(said, at, Math.min(5, 40 - at));
      equal(at - heard.length <= 8, true);
      const taken = incoming.take(into);
      equal(incoming.takenOrigin, 5);
      heard.push(...into.subarray(0, taken));
      equal(incoming.beginAnew(6), heard.length === at && heard.length === 40);
    }
    deepEqual(heard, [...said]);
    equal(incoming.isEmpty, true);
    equal(incoming.take(into), 0);
  });

  it("L1 words of shared memory are where both texts say", () => {
    const channel = create({ position: 7, words: 16, incomingWords: 4 });
    const words = new Int32Array(channel.memory.buffer);
    const calls = enterRing(channel);
    /** Which words of the head a call changes. */
    const touched = (act: () => void): (keyof typeof Head)[] => {
      const before = words.slice(0, headWords);
      act();
      return (Object.keys(Head) as (keyof typeof Head)[]).filter((name) => words[Head[name]] !== before[Head[name]]);
    };
    deepEqual(
      touched(() => calls.lock(1)),
      ["LOCK"],
    );
    deepEqual(
      touched(() => equal(calls.publish(2), Appended.CALL)),
      ["LOCK", "BORN", "CALLED"],
    );
    deepEqual(
      touched(() => calls.heed()),
      ["CALLED"],
    );
    deepEqual(
      touched(() => calls.free(8)),
      ["FREED"],
    );
    deepEqual(
      touched(() => calls.acknowledge(9)),
      ["STABLE"],
    );
    deepEqual(
      touched(() => calls.tryDrive()),
      ["DRIVER"],
    );
    deepEqual(
      touched(() => calls.setSent(9)),
      ["SENT"],
    );
    deepEqual(
      touched(() => calls.beginAnew(3)),
      ["ORIGIN"],
    );
    deepEqual(
      touched(() => calls.arrive(3)),
      ["ARRIVED"],
    );
    deepEqual(
      touched(() => calls.consume(2)),
      ["CONSUMED"],
    );
    deepEqual(
      touched(() => calls.tryTake()),
      ["TAKER"],
    );
    calls.append6(1, 2, 3, 4, 5, 6);
    deepEqual([...words.subarray(headWords + 9, headWords + 15)], [1, 2, 3, 4, 5, 6]);
    equal(incomingAt(channel), headWords + 16);
  });
}
