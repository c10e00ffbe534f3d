import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { EventLogger } from "./event-logger.ts";

const words = (...list: readonly number[]): Int32Array => Int32Array.from(list);

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

  it("a part that leaves a gap is our bug", () => {
    const logger = new EventLogger();
    throws(() => logger.append(3, 0, 5, words(1)), /goes on at 5/);
  });

  it("rule 7: an old life is not heard once its set was restarted", () => {
    const logger = new EventLogger();
    logger.append(3, 0, 0, words(1, 2));
    deepEqual(logger.fence(3, 1, 0), words(1, 2));
    equal(logger.append(3, 0, 2, words(9)), null);
    equal(logger.append(3, 1, 2, words(4)), 3);
    deepEqual(logger.fence(3, 2, 1), words(2, 4));
    throws(() => logger.fence(3, 2, 0), /begins after/);
  });

  it("L6 is trimmed by the own set's oldest image, and sets do not know each other", () => {
    const logger = new EventLogger();
    logger.append(0, 0, 0, words(1, 2));
    logger.append(0, 0, 2, words(3, 4));
    logger.append(1, 0, 0, words(7));
    logger.trim(0, 3);
    deepEqual(logger.read(0, 3), words(4));
    throws(() => logger.read(0, 1), /kept from 2/);
    equal(logger.end(0), 4);
    deepEqual(logger.read(1, 0), words(7));
  });

  it("an image whose past is not here cannot be gone on from", () => {
    const logger = new EventLogger();
    logger.append(0, 0, 0, words(1, 2));
    throws(() => logger.fence(0, 1, 3), /committed when all before it is here/);
  });
});
