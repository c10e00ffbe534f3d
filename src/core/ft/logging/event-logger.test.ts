import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { EventLogger } from "./event-logger.ts";
import { StoredStreams } from "./stored-streams.ts";

const words = (...list: readonly number[]): Int32Array => Int32Array.from(list);

/** Four words: how many, whose, what, and one more. */
const entry = (word: number): number[] => [4, 0, 4, word];

describe("the event logger", () => {
  it("L1 acknowledges what it has, and takes nothing twice", () => {
    const logger = new EventLogger();
    equal(logger.append(3, 0, 0, words(1, 2)), 2);
    equal(logger.append(3, 0, 0, words(1, 2, 3)), 3);
    equal(logger.append(3, 0, 1, words(2)), 3);
    deepEqual(logger.read(3, 0), words(1, 2, 3));
    deepEqual(logger.read(3, 2), words(3));
    equal(logger.bytes, 12);
  });

  it("D5 a set that has said nothing begins where the set was from which its rank was taken", () => {
    const logger = new EventLogger();
    deepEqual(logger.fence(5, 3, 40), words());
    equal(logger.end(5), 40);
    equal(logger.open(5, 3, 40), 40);
    equal(logger.append(5, 3, 40, words(...entry(1))), 44);
    deepEqual(logger.fence(5, 4, 40), words(...entry(1)));
  });

  it("a part that leaves a gap is our bug", () => {
    const logger = new EventLogger();
    throws(() => logger.append(3, 0, 5, words(1)), /goes on at 5/);
  });

  it("rule 7: an old life is not heard once its set was restarted", () => {
    const logger = new EventLogger();
    logger.append(3, 0, 0, words(...entry(1), ...entry(2)));
    deepEqual(logger.fence(3, 1, 0), words(...entry(1), ...entry(2)));
    equal(logger.append(3, 0, 8, words(9)), null);
    equal(logger.append(3, 1, 8, words(...entry(4))), 12);
    deepEqual(logger.fence(3, 2, 4), words(...entry(2), ...entry(4)));
    deepEqual(logger.fence(3, 2, 4), words(...entry(2), ...entry(4)), "asked again, before that life has spoken");
    equal(logger.open(3, 2, 4), 12);
    throws(() => logger.fence(3, 2, 0), /has spoken, and begins again/);
  });

  it("rule 7: a dispatcher that has a successor asks for an older life, late: it gets nothing, and the present life goes on", () => {
    const logger = new EventLogger();
    logger.append(3, 0, 0, words(...entry(1)));
    deepEqual(logger.fence(3, 2, 0), words(...entry(1)));
    equal(logger.fence(3, 1, 0), null);
    equal(logger.append(3, 1, 4, words(...entry(8))), null);
    equal(logger.append(3, 2, 4, words(...entry(4))), 8);
    deepEqual(logger.fence(3, 3, 0), words(...entry(1), ...entry(4)));
  });

  it("L1 who falls in the middle of an entry has not said it: the next life goes on before it", () => {
    for (let cut = 0; cut < 4; cut++) {
      const logger = new EventLogger();
      const said = words(...entry(1), ...entry(2), ...entry(3));
      // In parts that have nothing to do with entries.
      for (let at = 0; at < 8 + cut; at += 3) logger.append(3, 0, at, said.subarray(at, Math.min(at + 3, 8 + cut)));
      equal(logger.reached(3), 8 + cut);
      deepEqual(logger.fence(3, 1, 4), words(...entry(2)), `${cut} words of the last one`);
      equal(logger.reached(3), 8);
      equal(logger.append(3, 1, 8, words(...entry(5))), 12);
      deepEqual(logger.fence(3, 2, 0), words(...entry(1), ...entry(2), ...entry(5)));
    }
  });

  it("L1 nor does one who falls before anybody has connected again lose what is whole", () => {
    const logger = new EventLogger();
    logger.append(3, 0, 0, words(...entry(1), 4, 0));
    deepEqual(logger.fence(3, 1, 0), words(...entry(1)));
    deepEqual(logger.fence(3, 2, 0), words(...entry(1)));
    equal(logger.open(3, 2, 0), 4);
  });

  it("L6 is trimmed by the own set's oldest image, and sets do not know each other", () => {
    const logger = new EventLogger();
    logger.append(0, 0, 0, words(1, 2));
    logger.append(0, 0, 2, words(3, 4));
    logger.append(1, 0, 0, words(7));
    logger.trim(0, 3);
    deepEqual(logger.read(0, 3), words(4));
    throws(() => logger.read(0, 1), /kept from 3/);
    equal(logger.end(0), 4);
    deepEqual(logger.read(1, 0), words(7));
  });

  it("an image whose past is not here cannot be gone on from", () => {
    const logger = new EventLogger();
    logger.append(0, 0, 0, words(1, 2));
    throws(() => logger.fence(0, 1, 3), /committed when all before it is here/);
  });

  it("keeps long streams as they are, whatever the parts that they come in", () => {
    const logger = new EventLogger();
    const all = words(...Array.from({ length: 12_500 }, (_, i) => entry(i)).flat());
    for (let at = 0, length = 1; at < all.length; at += length, length = (length * 7) % 10_007) {
      logger.append(0, 0, at, all.subarray(at, at + length));
    }
    deepEqual(logger.read(0, 0), all);
    logger.trim(0, 12_345);
    equal(logger.begin(0), 12_345);
    deepEqual(logger.fence(0, 1, 20_000), all.slice(20_000));
  });

  it("one that takes the place of another is told again what nodes keep", () => {
    const logger = new EventLogger(new StoredStreams(true));
    equal(logger.open(3, 1, 10), 10);
    logger.owes(3, 1, 13);
    equal(logger.append(3, 1, 10, words(4, 0)), 12);
    equal(logger.open(3, 1, 10), 12, "the connection was lost in the middle");
    equal(logger.reached(3), null);
    equal(logger.append(3, 1, 12, words(4, 1, ...entry(2))), 18);
    equal(logger.reached(3), 18);
    equal(logger.open(3, 0, 10), null, "an old life");
    deepEqual(logger.fence(3, 2, 14), words(...entry(2)));
  });

  it("rule 7: an old life that says what was acknowledged to it, late, is not heard", () => {
    const logger = new EventLogger(new StoredStreams(true));
    equal(logger.open(3, 0, 0), 0);
    equal(logger.fence(3, 1, 0), null, "nobody knows how much there was");
    equal(logger.owes(3, 0, 0), false);
    equal(logger.fence(3, 2, 0), null, "the answer stays, whoever asks");
  });

  it("what a node has trimmed before it could tell it again is not missed", () => {
    const logger = new EventLogger(new StoredStreams(true));
    equal(logger.open(3, 1, 10), 10);
    logger.owes(3, 1, 18);
    logger.append(3, 1, 10, words(1, 2));
    equal(logger.open(3, 1, 14), 14);
    equal(logger.reached(3), null);
    equal(logger.append(3, 1, 14, words(...entry(5))), 18);
    deepEqual(logger.fence(3, 2, 14), words(...entry(5)));
  });

  it("a stream that has been acknowledged further than it is here is lost", () => {
    const logger = new EventLogger(new StoredStreams(true));
    equal(logger.fence(2, 1, 0), null, "nobody has told anything of it");
    logger.open(3, 0, 10);
    logger.owes(3, 0, 13);
    logger.append(3, 0, 10, words(1, 2));
    equal(logger.fence(3, 1, 10), null);
    logger.open(4, 0, 0);
    equal(logger.reached(4), null, "how much is not known yet");
    equal(logger.fence(4, 1, 0), null);
    logger.trim(5, 3);
    equal(logger.reached(5), null);
    equal(logger.fence(5, 1, 0), null);
  });
});
