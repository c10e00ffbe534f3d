import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pointer } from "../../base/brand.ts";
import { Channel } from "./channel.ts";
import { hashOfMessage, Kept, noRequest } from "./kept.ts";

const kept = (sequence: number, tag = 0): Kept =>
  new Kept(
    { dest: 1, context: 2, tag, bytes: 8, sequence, isSynchronous: false, pointer: (64 * sequence) as Pointer },
    0,
    noRequest,
  );

const sumOf = (...sequences: readonly number[]): number =>
  sequences.reduce((sum, sequence) => (sum + hashOfMessage(sequence, 2, 0, 8)) | 0, 0);

/** The peer's next life tells what it holds. */
function hear(
  channel: Channel,
  firstMissing: number,
  later: readonly number[],
  broken: readonly number[],
  sum: number,
) {
  channel.close(channel.incarnation + 1);
  channel.hearBegin();
  for (const number of later) channel.hearHeld(number);
  for (const number of broken) channel.hearBroken(number);
  channel.hearSum(sum);
  return channel.hearEnd(firstMissing);
}

const lacking = ({ kept: all }: Channel): number[] =>
  all.filter(({ isDelivered }) => !isDelivered).map(({ sequence }) => sequence);

describe("a channel to a process of another set", () => {
  it("L5 rule 8: what the next life of the peer lacks is sent again, and nothing else", () => {
    const channel = new Channel(1);
    for (const sequence of [0, 1, 2, 3, 4]) ok(channel.keep(kept(sequence)));
    channel.next = 5;
    ok(hear(channel, 2, [3], [1], sumOf(0, 1, 3)));
    equal(channel.next, 0);
    deepEqual(lacking(channel), [1, 2, 4]); // 1 is there without its bytes
  });

  it("L5 a sender that is new posts again what its life before sent, and it does not travel", () => {
    const channel = new Channel(1);
    ok(hear(channel, 2, [], [], sumOf(0, 1)));
    for (const sequence of [0, 1, 2]) channel.keep(kept(sequence));
    deepEqual(lacking(channel), [2]);
  });

  it("a program that sends something else in replay is told so", () => {
    const channel = new Channel(1);
    hear(channel, 2, [], [], sumOf(0, 1));
    channel.keep(kept(0));
    throws(() => channel.keep(kept(1, 77)), /Cannot replay: the messages to rank 1/);
  });

  it("numbers go back when the peer falls again (rule 8)", () => {
    const channel = new Channel(1);
    for (const sequence of [0, 1, 2]) channel.keep(kept(sequence));
    hear(channel, 3, [], [], sumOf(0, 1, 2));
    deepEqual(lacking(channel), []);
    hear(channel, 1, [], [], sumOf(0));
    deepEqual(lacking(channel), [1, 2]);
  });

  it("L6 rule 5: what the oldest image of the peer has is not kept, also when it is posted again", () => {
    const channel = new Channel(1);
    for (const sequence of [0, 2, 1, 3]) channel.keep(kept(sequence));
    channel.next = 3;
    deepEqual(
      channel.trim(2).map(({ sequence }) => sequence),
      [0, 1],
    );
    deepEqual(
      channel.kept.map(({ sequence }) => sequence),
      [2, 3],
    );
    equal(channel.next, 1); // 3 has still to leave
    deepEqual(channel.trim(1), []);
    equal(channel.keep(kept(1)), false);
    // What was trimmed counts when the peer tells what it has.
    const other = new Channel(1);
    for (const sequence of [0, 1, 2]) other.keep(kept(sequence));
    other.trim(2);
    ok(hear(other, 3, [], [], sumOf(0, 1, 2)));
  });

  it("each pair of lives tells once", () => {
    const channel = new Channel(1);
    ok(channel.mustTell(0));
    ok(!channel.mustTell(0));
    channel.close(1);
    ok(channel.mustTell(0));
    ok(channel.mustTell(1));
    ok(!channel.mustTell(1));
  });

  it("L5 a life that may have begun after it was told is told again", () => {
    const channel = new Channel(1);
    channel.close(1);
    ok(channel.mustTell(1));
    channel.tellAgain();
    ok(channel.mustTell(1));
    ok(!channel.mustTell(1));
  });

  it("words without a beginning, or of a life that fell while it spoke, are not heard", () => {
    const channel = new Channel(1);
    channel.hearHeld(3);
    equal(channel.hearEnd(1), false);
    channel.close(1);
    channel.hearBegin();
    channel.hearHeld(3);
    channel.close(2);
    equal(channel.hearEnd(1), false);
    equal(channel.isOpen, false);
  });

  it("rule 1: a message that is here is not taken twice", () => {
    const channel = new Channel(1);
    ok(channel.receive(0, 2, 0, 8));
    ok(!channel.receive(0, 2, 0, 8));
    equal(channel.sum, sumOf(0));
  });

  it("D5 with a peer that was of our set: it has all but what collectives have not sent, and lacks the bytes that wait for a receive", () => {
    // 0 to 9 were numbered; 4 and 7 have not left; 5 and 8 wait for a receive.
    const [unsent, waiting] = [
      [4, 7],
      [5, 8],
    ];
    const [sender, receiver] = [new Channel(1), new Channel(0)];
    receiver.receivedBefore(
      10,
      unsent,
      waiting.map((sequence) => [sequence, 2, 0, 8]),
    );
    deepEqual([receiver.received.firstMissing, [...receiver.received.later]], [4, [5, 6, 8, 9]]);
    sender.close(0);
    sender.sentBefore(8, 2);
    for (const sequence of waiting) ok(sender.keep(kept(sequence)));
    const { firstMissing, later } = receiver.received;
    ok(hear(sender, firstMissing, [...later], waiting, receiver.sum));
    ok(sender.isRepeated);
    deepEqual(lacking(sender), [5, 8]);
    for (const sequence of [10, 4, 11, 7]) {
      ok(sender.keep(kept(sequence)));
      ok(receiver.receive(sequence, 2, 0, 8));
    }
    equal(receiver.received.firstMissing, 12);
    // The receiver falls, and begins with the same image; the sender has gone on.
    const again = new Channel(0);
    again.receivedBefore(
      10,
      unsent,
      waiting.map((sequence) => [sequence, 2, 0, 8]),
    );
    ok(hear(sender, again.received.firstMissing, [...again.received.later], waiting, again.sum));
    deepEqual(lacking(sender), [5, 8, 10, 4, 11, 7]);
  });
});
