import { equal, match } from "node:assert/strict";
import { test } from "node:test";
import { compareSends, whatDiffers } from "./compare-sends.ts";
import { type LoggedSend, type SendEntries, SendLog } from "./send-log.ts";

type Words = Partial<LoggedSend>;

/** Numbers of the channel and the order are counted unless given. */
function run(...ranks: (readonly Words[])[]): SendEntries[] {
  let order = 0;
  return ranks.map((sends) => {
    const log = new SendLog(1000);
    const next = new Map<number, number>();
    for (const words of sends) {
      const dest = words.dest ?? 0;
      const sequence = next.get(dest) ?? 0;
      next.set(dest, sequence + 1);
      const plain = { dest, sequence, context: 2, tag: 0, bytes: 8, hash: 1, call: -1, order: order++ };
      log.add({ ...plain, ...words });
    }
    return log.entries;
  });
}

test("R8 runs that send the same are the same", () => {
  const sends = [{ dest: 1 }, { dest: 2, tag: 4 }, { dest: 1, context: 3 }];
  equal(compareSends(run(sends, []), run(sends, [])), null);
});

for (const [what, words, text] of [
  ["destination", { dest: 3 }, /another destination/],
  ["communicator", { context: 20 }, /another communicator/],
  ["tag", { tag: 9 }, /another tag/],
  ["length", { bytes: 9 }, /another length/],
  ["bytes", { hash: 2 }, /other bytes/],
] as const) {
  test(`R8 another ${what} is a difference, and is named`, () => {
    const before: Words = { dest: 1 };
    const difference = compareSends(run([before, before, before]), run([before, before, { ...before, ...words }]))!;
    equal(difference.rank, 0);
    equal(difference.number, 3);
    match(whatDiffers(difference), text);
  });
}

test("R8 the order of sends to different ranks counts: replicas would wait for each other's large messages", () => {
  const difference = compareSends(run([{ dest: 1 }, { dest: 2 }]), run([{ dest: 2 }, { dest: 1 }]))!;
  equal(difference.number, 1);
  match(whatDiffers(difference), /another destination/);
});

test("R8 messages of collectives may be posted in any order, and must be the same", () => {
  const one: Words = { dest: 1, sequence: 0, context: 3 };
  const two: Words = { dest: 2, sequence: 0, context: 3 };
  const own: Words = { dest: 1, sequence: 1 };
  equal(compareSends(run([one, two, own]), run([own, two, one])), null);
  const difference = compareSends(run([one, two, own]), run([own, two, { ...one, hash: 5 }]))!;
  equal(difference.isOfProgram, false);
  match(whatDiffers(difference), /other bytes/);
  equal(compareSends(run([one, two]), run([one]))!.other, null);
});

test("R8 a send more or fewer is a difference", () => {
  const one = run([{ dest: 1 }]);
  const other = run([{ dest: 1 }, { dest: 1 }]);
  equal(compareSends(one, other)!.one, null);
  equal(compareSends(other, one)!.other, null);
  match(whatDiffers(compareSends(one, other)!), /ends without it/);
});

test("R8 of several differences the one that happened first in the second run is shown", () => {
  const ranks = (hash: number): readonly Words[] => [{ hash }];
  const other = run(ranks(2), ranks(2));
  const [first, second] = other;
  // Rank 1 sent before rank 0.
  first!.words[7] = 5;
  second!.words[7] = 3;
  equal(compareSends(run(ranks(1), ranks(1)), other)!.rank, 1);
});

test("R8 what a full log has lost is no difference", () => {
  const log = new SendLog(2);
  for (let sequence = 0; sequence < 5; sequence++)
    log.add({ dest: 1, sequence, context: 2, tag: 0, bytes: 8, hash: 1, call: -1, order: sequence });
  equal(log.entries.count, 5);
  equal(compareSends([log.entries], [log.entries]), null);
  equal(compareSends([log.entries], run(Array.from({ length: 5 }, () => ({ dest: 1 })))), null);
});
