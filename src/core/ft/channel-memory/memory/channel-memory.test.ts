import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ToMemory } from "../frames.ts";
import { messagesIn, piecesIn, Speaker } from "../testing/speaker.ts";
import { TestedMemory } from "../testing/tested-memory.ts";

/** A life of the receiver that begins at its beginning. */
function receiver(memory: TestedMemory, incarnation = 0, from = 0): Speaker {
  const life = new Speaker(0, incarnation).connect(memory);
  life.say("RESUME", from, 0);
  return life;
}

describe("a channel memory", () => {
  it("V2: messages of all senders come in one order, the same in every life of the receiver", () => {
    const memory = new TestedMemory(4);
    const senders = [1, 2, 3].map((rank) => new Speaker(rank).connect(memory));
    for (const [place, sender] of [0, 2, 1, 1, 0, 2].entries()) senders[sender]!.post(0, place).exchange();
    const first = messagesIn(receiver(memory).exchange());
    deepEqual(first, ["1:0", "3:1", "2:2", "2:3", "1:4", "3:5"]);
    deepEqual(messagesIn(receiver(memory, 1).exchange()), first);
    memory.crash();
    deepEqual(messagesIn(receiver(memory, 2).exchange()), first);
  });

  for (const itemsMax of [0, 1, 2, 3, 40]) {
    it(`V3: with ${itemsMax} messages and events in memory every life is told all of them, in their order, in few reads`, () => {
      const memory = new TestedMemory(3, { itemsMax });
      const senders = [1, 2].map((rank) => new Speaker(rank).connect(memory));
      const first = receiver(memory);
      const order: string[] = [];
      for (let number = 0; number < 200; number++) {
        const sender = senders[number % 2]!;
        sender.post(0, number, number % 10 === 0 ? 20 : 4).exchange();
        first.say("EVENT", number, 4, number).exchange();
        order.push(`${sender.rank}:${number}`);
        ok(memory.itemsInMemory <= itemsMax);
      }
      for (const incarnation of [1, 2]) {
        const life = receiver(memory, incarnation);
        const before = memory.store.reads;
        const heard = life.exchange();
        deepEqual(messagesIn(heard), order);
        deepEqual(
          heard.filter(([kind]) => kind === "EVENT").map(([, number]) => number),
          order.map((_, number) => number),
        );
        // A block for each segment, of events and of messages, and bytes of those that are in memory as an envelope.
        ok(memory.store.reads - before <= 2 * memory.store.count + itemsMax, "blocks are read, not messages");
        // One that came long ago is wanted now.
        life.say("WANT", 1, 10, 7, 0).say("WANT", 2, 11, 8, 0);
        equal(piecesIn(life.exchange()).length, 24);
        memory.crash();
        ok(memory.itemsInMemory <= itemsMax);
      }
      const late = new Speaker(0, 3).connect(memory).say("RESUME", 150, 190, 1, 30, 2, 31);
      const heard = late.exchange();
      deepEqual(messagesIn(heard), ["1:30", "2:31", ...order.slice(150)]);
      equal(heard.filter(([kind]) => kind === "EVENT").length, 10);
    });
  }

  it("V3: the last bytes of a message that left the memory long ago are forwarded, written or not", () => {
    const memory = new TestedMemory(3, { itemsMax: 1 });
    const slow = new Speaker(1).connect(memory).post(0, 0, 20, 2);
    slow.exchange();
    const other = new Speaker(2).connect(memory);
    for (let number = 0; number < 20; number++) other.post(0, number).exchange();
    const life = receiver(memory);
    equal(messagesIn(life.exchange()).length, 21);
    life.say("WANT", 1, 0, 9, 0);
    equal(piecesIn(life.exchange()).length, 16);
    other.post(0, 20).exchange();
    slow.post(0, 0, 20).end.give(slow.end.unsent, false);
    // The acknowledgement of another message makes the memory speak.
    deepEqual(piecesIn(life.hear()), [16, 17, 18, 19]);
  });

  it("V6: a life of a sender is told the numbers that are here by receiver, not their sum, and with their gaps", () => {
    const memory = new TestedMemory(4);
    new Speaker(1).connect(memory).post(0, 0).post(0, 1).post(2, 0).post(2, 5).exchange();
    const heard = new Speaker(1, 1).connect(memory).hear();
    deepEqual(heard, [["HELD", 0, 2], ["HELD", 2, 1, 5], ["READY"]]);
  });

  it("V6: half a message is not held; the next life says it again, and it comes once, in its place", () => {
    const memory = new TestedMemory(3);
    new Speaker(1).connect(memory).post(0, 0, 20, 2).exchange();
    new Speaker(2).connect(memory).post(0, 0).exchange();
    const life = receiver(memory);
    deepEqual(messagesIn(life.exchange()), ["1:0", "2:0"]);
    life.say("WANT", 1, 0, 9, 0);
    equal(piecesIn(life.exchange()).length, 16, "what is here is forwarded before the rest has come");
    const next = new Speaker(1, 1).connect(memory);
    deepEqual(next.hear(), [["READY"]]);
    next.post(0, 0, 20).exchange();
    deepEqual(piecesIn(life.exchange()), [16, 17, 18, 19]);
    deepEqual(new Speaker(1, 2).connect(memory).hear(), [["HELD", 0, 1], ["READY"]]);
  });

  it("V6: a restart rewinds, also one in the middle of a replay", () => {
    const memory = new TestedMemory(2);
    const sender = new Speaker(1).connect(memory);
    for (let number = 0; number < 6; number++) sender.post(0, number);
    sender.exchange();
    const first = receiver(memory);
    for (let number = 0; number < 3; number++) first.say("EVENT", number, 4, number);
    first.exchange();
    const replaying = receiver(memory, 1);
    replaying.end.give();
    replaying.end.fetch(20);
    const heard = receiver(memory, 2).exchange();
    deepEqual(messagesIn(heard), ["1:0", "1:1", "1:2", "1:3", "1:4", "1:5"]);
    deepEqual(
      heard.filter(([kind]) => kind === "EVENT"),
      [
        ["EVENT", 0, 4, 0],
        ["EVENT", 1, 4, 1],
        ["EVENT", 2, 4, 2],
      ],
    );
    deepEqual(messagesIn(receiver(memory, 3, 4).exchange()), ["1:4", "1:5"], "from where an image is");
  });

  it("V8: the newest life has the connection, whichever came first, and a successor knows which it is", () => {
    const memory = new TestedMemory(2);
    const old = new Speaker(1).connect(memory);
    const present = new Speaker(1, 3).connect(memory);
    old.post(0, 0).exchange();
    ok(old.end.isFenced);
    ok(new Speaker(1, 2).connect(memory).end.isFenced);
    present.post(0, 0).exchange();
    ok(!present.end.isFenced);
    memory.crash();
    ok(new Speaker(1, 2).connect(memory).end.isFenced, "also in the eyes of a successor");
    deepEqual(messagesIn(receiver(memory).exchange()), ["1:0"]);
  });

  it("V5: the mark is what the receiver says; a checkpoint that never counted frees nothing", () => {
    const memory = new TestedMemory(2);
    const sender = new Speaker(1).connect(memory);
    for (let number = 0; number < 6; number++) sender.post(0, number);
    sender.exchange();
    const life = receiver(memory);
    life.exchange();
    life.say("MARK", 1, 2, 0).exchange();
    sender.post(0, 6).exchange();
    life.say("MARK", 2, 5, 0, 1, 3).exchange();
    deepEqual(messagesIn(receiver(memory, 1).exchange()).length, 7, "image 1 is not stored yet");
    const next = receiver(memory, 2);
    next.say("FREE", 1).exchange();
    deepEqual(messagesIn(receiver(memory, 3, 2).exchange()), ["1:2", "1:3", "1:4", "1:5", "1:6"]);
    receiver(memory, 4).say("FREE", 2).exchange();
    memory.crash();
    const last = new Speaker(0, 5).connect(memory).say("RESUME", 5, 0, 1, 3);
    deepEqual(messagesIn(last.exchange()), ["1:3", "1:5", "1:6"], "a message without its bytes comes once more");
  });

  it("V7: what is not written is neither acknowledged nor forwarded, and is said again to a successor", () => {
    const memory = new TestedMemory(2);
    const sender = new Speaker(1).connect(memory);
    const life = receiver(memory);
    life.exchange();
    sender.post(0, 0);
    sender.end.give(sender.end.unsent, false);
    equal(sender.end.stable, 0);
    deepEqual(messagesIn(life.hear()), []);
    memory.crash();
    for (const speaker of [life, sender]) speaker.connect(memory);
    life.say("RESUME", 0, 0).exchange();
    sender.exchange();
    ok(sender.end.stable > 0);
    deepEqual(messagesIn(life.hear()), ["1:0"]);
  });

  it("V7: what a memory has written and not acknowledged comes once, though it is said twice", () => {
    const memory = new TestedMemory(2);
    const sender = new Speaker(1).connect(memory).post(0, 0, 20).say("EVENT", 0, 4, 4).say("TAKEN", 0, 8);
    // Another rank's words make the memory write.
    const life = receiver(memory);
    sender.end.give(sender.end.unsent, false);
    life.exchange();
    equal(sender.end.stable, 0);
    memory.crash();
    sender.connect(memory).exchange();
    const heard = receiver(memory, 1).exchange();
    deepEqual(
      heard.map(([kind]) => kind),
      ["READY", "EVENTS_END", "MESSAGE", "TAKEN"],
    );
  });

  it("V7: whole frames are acknowledged, so that a successor is told from the beginning of one", () => {
    const { incoming } = new TestedMemory(2).memory.open({ client: 0, incarnation: 0, begin: 0 })!;
    const events = Int32Array.of(4, ToMemory.EVENT, 0, 7, 4, ToMemory.EVENT, 1, 7);
    equal(incoming.receive(events, 0, 6), 6);
    incoming.settle!();
    equal(incoming.settled, 4);
    equal(incoming.receive(events, 6, 2), 2);
    incoming.settle!();
    equal(incoming.settled, 8);
  });

  it("a stranger's words end the connection", () => {
    const memory = new TestedMemory(2);
    ok(new Speaker(7).connect(memory).end.isFenced);
    const words = [
      (it: Speaker) => it.say("POST", 9, 0, 0, 0, 0, 0),
      (it: Speaker) => it.say("POST", 0, 0, 2, 0, -5, 0),
      (it: Speaker) => it.say("MORE", 0, 3, 8),
      (it: Speaker) => it.say("EVENT", 4),
      (it: Speaker) => it.say("POST", 0, 0, 2, 0, 100, 0),
    ];
    for (const [incarnation, say] of words.entries()) {
      const stranger = new Speaker(1, incarnation).connect(memory);
      say(stranger).exchange();
      ok(stranger.end.isFenced);
    }
  });
});
