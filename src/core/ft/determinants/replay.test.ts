import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { ChoiceKind } from "../choices.ts";
import { determinantHeaderWords } from "./determinant-entries.ts";
import { DeterminantLog } from "./determinant-log.ts";
import { DeterminantKind, type DeterminantStream } from "./determinant-stream.ts";
import { LoggedChoices } from "./logged-choices.ts";
import { Replay } from "./replay.ts";

/** A stream whose stable part the test decides. */
class TestStream implements DeterminantStream {
  readonly words: number[] = [];
  stable = 0;
  urged = 0;

  get born(): number {
    return this.words.length;
  }

  append(rank: number, kind: DeterminantKind, words: readonly number[]): void {
    this.words.push(determinantHeaderWords + words.length, rank, kind, ...words);
  }

  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void {
    this.append(rank, kind, [a, b, c]);
  }

  urge(): void {
    this.urged++;
  }
}

/** The choices of rank 1 in a life, and those of the next one, which has all of the first one's stream. */
function twoLives(live: (choices: LoggedChoices, log: DeterminantLog) => void): {
  choices: LoggedChoices;
  replay: Replay;
} {
  const stream = new TestStream();
  const first = new DeterminantLog(1, stream);
  live(new LoggedChoices(first, new Replay()), first);
  first.ticket();
  stream.append(2, DeterminantKind.CHOICE, [ChoiceKind.ANY, 7]);
  const replay = new Replay();
  replay.add(1, Int32Array.from(stream.words));
  return { choices: new LoggedChoices(new DeterminantLog(1, new TestStream()), replay), replay };
}

describe("determinants of a process", () => {
  it("L1 what was said is said again, in its order, then nothing is known", () => {
    const { choices, replay } = twoLives((life) => {
      life.nothing(ChoiceKind.TEST);
      life.nothing(ChoiceKind.PROBE);
      life.made(ChoiceKind.PROBE, [3, 12]);
      life.made(ChoiceKind.ANY, [2]);
      life.nothing(ChoiceKind.TEST);
    });
    equal(choices.replay(ChoiceKind.TEST), null);
    equal(choices.replay(ChoiceKind.PROBE), null);
    deepEqual(choices.replay(ChoiceKind.PROBE), [3, 12]);
    deepEqual(choices.replay(ChoiceKind.ANY), [2]);
    equal(choices.replay(ChoiceKind.TEST), null);
    equal(replay.isOver, false); // the last one has not come about until the program goes on
    equal(choices.replay(ChoiceKind.TEST), undefined);
    equal(replay.isOver, true);
  });

  it("another choice than the one that was made is refused by name", () => {
    const { choices } = twoLives((life) => life.made(ChoiceKind.CLOCK, [1, 2]));
    throws(() => choices.replay(ChoiceKind.TEST), /Cannot replay: .* kind 1 .* kind 5/);
  });

  it("matches and cancellations are found by the number of their receive", () => {
    const { replay } = twoLives((_, log) => {
      log.append(DeterminantKind.MATCH, [4, 0, 9]);
      log.append(DeterminantKind.CANCELLED, [5]);
      log.append(DeterminantKind.CAME, [6]);
    });
    equal(replay.takeMatch(3), undefined);
    deepEqual(replay.takeMatch(4), { source: 0, sequence: 9 });
    equal(replay.takeMatch(4), undefined);
    equal(replay.takeCancelled(5), true);
    equal(replay.isOver, false);
    equal(replay.takeCame(6), true);
    equal(replay.isOver, true);
  });

  it("L1 a run of nothings is one entry, closed by whatever leaves", () => {
    const stream = new TestStream();
    const log = new DeterminantLog(1, stream);
    for (let times = 0; times < 1000; times++) log.nothing();
    equal(stream.born, 0);
    equal(log.ticket(), determinantHeaderWords + 1);
    equal(log.ticket(), stream.born);
    log.nothing();
    log.closeRun(); // a message inside the set leaves
    deepEqual(stream.words, [4, 1, DeterminantKind.NOTHING, 1000, 4, 1, DeterminantKind.NOTHING, 1]);
  });

  it("X2 what is done to files is counted too, and waits for choices only", () => {
    const stream = new TestStream();
    const log = new DeterminantLog(1, stream);
    for (let times = 0; times < 10; times++) log.nothing(true);
    equal(log.ticketOfFile(), 0, "what was done to files just before need not be stable");
    log.nothing();
    deepEqual(stream.words, [4, 1, DeterminantKind.NOTHING, 10]);
    equal(log.ticketOfFile(), 8, "what a test said must be");
    log.nothing(true);
    equal(log.ticket(), 12, "nor does a message leave before all of it is");
    deepEqual(stream.words.slice(4), [4, 1, DeterminantKind.NOTHING, 1, 4, 1, DeterminantKind.NOTHING, 1]);
  });

  it("L1 a ticket is stable when all that was born before it is, of anybody in the set", () => {
    const stream = new TestStream();
    const log = new DeterminantLog(1, stream);
    stream.append(2, DeterminantKind.CHOICE, [ChoiceKind.TEST]);
    const ticket = log.ticket();
    equal(log.isStable(ticket), false);
    equal(stream.urged, 1);
    stream.stable = ticket;
    equal(log.isStable(ticket), true);
    equal(stream.urged, 1);
  });
});
