import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pointer } from "../../../base/brand.ts";
import { DirectEnd } from "../testing/direct-end.ts";
import { ModelMemory } from "../testing/model-memory.ts";
import { messagesIn, Speaker } from "../testing/speaker.ts";
import { smallLimits, TestedMemory } from "../testing/tested-memory.ts";
import { PostBox, type PostedItem } from "./post-box.ts";

/** A box of rank 1 whose events are stable up to a number. */
class Tested {
  readonly memory = new TestedMemory(3);
  readonly bytes = new ModelMemory();
  readonly confirmed: PostedItem[] = [];
  stable = 0;

  box(incarnation: number, isHome = false, wordsMax = 1 << 16): { box: PostBox; end: DirectEnd } {
    const end = new DirectEnd(1, incarnation, wordsMax);
    end.connect(this.memory.memory, this.memory.origin);
    const ports = {
      memory: this.bytes,
      isStable: (ticket: number) => ticket <= this.stable,
      confirmed: (posted: PostedItem) => void this.confirmed.push(posted),
    };
    return { box: new PostBox(end, { ...smallLimits, isHome }, ports), end };
  }

  message(sequence: number, { bytes = 4, ticket = 0 } = {}) {
    const pointer = this.bytes.allocate(bytes) as Pointer;
    return { dest: 0, sequence, context: 2, tag: 0, bytes, isSynchronous: false, pointer, ticket };
  }

  /** What rank 0 gets in a life that begins. */
  received(incarnation = 0): string[] {
    return messagesIn(new Speaker(0, incarnation).connect(this.memory).say("RESUME", 0, 0).exchange());
  }
}

describe("what a rank has to say to a memory", () => {
  it("V6: a message is kept until the memory confirms it, though the channel has taken it", () => {
    const tested = new Tested();
    const { box, end } = tested.box(0);
    box.addMessage(tested.message(0, { bytes: 20 }));
    equal(end.unsent > 20 / 4, true, "all of it is in the channel");
    deepEqual(
      box.kept.map(({ sequence }) => sequence),
      [0],
    );
    end.give(5);
    box.progress();
    equal(box.kept.length, 1, "a part of a frame is confirmed by nobody");
    end.give();
    box.progress();
    deepEqual([box.kept.length, tested.confirmed.length, box.isEmpty], [0, 1, true]);
  });

  it("V6: a life that begins with an image says again what its memory lacks, and nothing that it has", () => {
    const tested = new Tested();
    const { box, end } = tested.box(0);
    for (const sequence of [0, 1, 2]) box.addMessage(tested.message(sequence));
    // The connection loses its tail; the acknowledgement of the rest never arrives either.
    end.give(end.nextFrame * 2, false);
    new Speaker(2).connect(tested.memory).post(0, 0).exchange();
    const next = tested.box(1);
    Object.assign(next.box, { queue: structuredClone(box.kept) });
    next.box.beginLife();
    next.box.progress();
    equal(next.end.unsent, 0, "nothing is said before the memory has told what it has");
    next.box.open((dest, sequence) => dest === 0 && sequence < 2);
    next.box.progress();
    next.end.give();
    next.box.progress();
    ok(next.box.isEmpty);
    equal(tested.memory.memory.load.repeated, 0);
    deepEqual(tested.received(), ["1:0", "1:1", "2:0", "1:2"]);
  });

  it("L1 V6: a message to another memory waits for the choices before it; one to the home memory goes behind them", () => {
    for (const isHome of [false, true]) {
      const tested = new Tested();
      const { box, end } = tested.box(0, isHome);
      box.addMessage(tested.message(0, { ticket: 1 }));
      equal(end.unsent > 0, isHome);
      tested.stable = 1;
      box.progress();
      ok(end.unsent > 0);
    }
  });

  it("V6: says that something moved as long as words go into the channel, also in the middle of a large message", () => {
    const tested = new Tested();
    const { box, end } = tested.box(0, false, 20);
    box.addMessage(tested.message(0, { bytes: 400 }));
    let rounds = 0;
    while (!box.isEmpty) {
      end.give();
      ok(box.progress(), "otherwise nobody would move the channel");
      rounds++;
    }
    ok(rounds > 5);
  });
});
