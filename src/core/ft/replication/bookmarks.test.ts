/** D3: the three cases of the paper for sends and for receives, in all small sizes; and the same from this protocol's numbers. */
import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import { ReceivedNumbers } from "../received-numbers.ts";
import { KeptSend } from "./sending/kept-send.ts";
import { SendChannel } from "./sending/send-channel.ts";
import { isIn, receivesFromClone, sendsToClone } from "./testing/bookmarks.ts";

const sizes = [0, 1, 2, 3, 4, 5];
const all = sizes.length + 2;
const numbers = Array.from({ length: all }, (_, number) => number);

/** Calls `check` for all bookmarks of the lost replica and of its source. */
function forAll(check: (lost: number, source: number) => void): void {
  for (const lost of sizes) for (const source of sizes) check(lost, source);
}

describe("D3 §III bookmarks", () => {
  it("D3 step 2: equal, behind (suppressed), ahead (sent again)", () => {
    deepEqual(sendsToClone(3, 3), { lost: "equal", suppressed: [3, 3], again: [3, 3] });
    deepEqual(sendsToClone(1, 3), { lost: "behind", suppressed: [1, 3], again: [1, 1] });
    deepEqual(sendsToClone(3, 1), { lost: "ahead", suppressed: [1, 1], again: [1, 3] });
  });

  it("D3 step 3: equal, behind (completed by the source), ahead (absorbed)", () => {
    deepEqual(receivesFromClone(3, 3), { lost: "equal", fromSource: [3, 3], absorbed: [3, 3] });
    deepEqual(receivesFromClone(1, 3), { lost: "behind", fromSource: [1, 3], absorbed: [1, 1] });
    deepEqual(receivesFromClone(3, 1), { lost: "ahead", fromSource: [1, 1], absorbed: [1, 3] });
  });

  it("D3 after step 2 the clone has every message once, for all bookmarks", () => {
    forAll((lost, source) => {
      const { suppressed, again } = sendsToClone(lost, source);
      const sentNext = numbers.filter((number) => number >= lost && !isIn(suppressed, number));
      const sentAgain = numbers.filter((number) => isIn(again, number));
      const inImage = numbers.filter((number) => number < source);
      deepEqual([...inImage, ...sentAgain, ...sentNext].sort(), numbers, `${lost}, ${source}`);
    });
  });

  it("D3 after step 3 the receiver has every message once, for all bookmarks", () => {
    forAll((lost, source) => {
      const { fromSource, absorbed } = receivesFromClone(lost, source);
      const had = numbers.filter((number) => number < lost);
      const stoodIn = numbers.filter((number) => isIn(fromSource, number));
      const taken = numbers.filter((number) => number >= source && !isIn(absorbed, number));
      deepEqual([...had, ...stoodIn, ...taken].sort(), numbers, `${lost}, ${source}`);
    });
  });
});

const [source, clone] = [0, 1];

describe("D3 the numbers of this protocol are bookmarks", () => {
  it("D3 a channel sends to a clone what step 2 says, for all bookmarks", () => {
    forAll((sentToLost, held) => {
      const { suppressed, again } = sendsToClone(sentToLost, held);
      const channel = new SendChannel(1, 2, { dead: 1 << clone, closed: 0, borrowed: 0 });
      for (let number = 0; number < sentToLost; number++) {
        const message = new KeptSend();
        message.sequence = number;
        // The lost one had it.
        message.has = 1 << clone;
        channel.add(message);
        channel.acknowledge(clone, number);
      }
      // PREPARED: what the source holds the clone will; what comes to the source later counts for itself alone.
      for (let number = 0; number < held; number++) {
        channel.acknowledge(source, number);
        const message = channel.find(number);
        if (message !== null) message.has |= 1 << source;
      }
      channel.renew(clone, source);
      const kept = numbers.filter((number) => {
        const message = channel.find(number);
        return message !== null && (message.has & (1 << clone)) === 0;
      });
      deepEqual(
        kept,
        numbers.filter((number) => isIn(again, number)),
        `${sentToLost}, ${held}`,
      );
      for (const number of numbers.slice(sentToLost)) {
        const isHeld = (channel.acknowledgedBy(number) & (1 << clone)) !== 0;
        equal(isHeld, isIn(suppressed, number), `${number} of ${sentToLost}, ${held}`);
      }
    });
  });

  it("D3 a receiver drops what step 3 absorbs, and lacks what the source sends, for all bookmarks", () => {
    forAll((held, sentBySource) => {
      const { fromSource, absorbed } = receivesFromClone(held, sentBySource);
      const received = new ReceivedNumbers();
      received.addBefore(held);
      const dropped = numbers.slice(sentBySource).filter((number) => !received.add(number));
      deepEqual(
        dropped,
        numbers.filter((number) => isIn(absorbed, number)),
      );
      deepEqual(
        numbers.filter((number) => !received.has(number)),
        numbers.filter((number) => isIn(fromSource, number)),
      );
    });
  });
});
