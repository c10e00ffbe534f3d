import assert from "node:assert/strict";
import { test } from "node:test";
import { LineMerge, type Lines } from "./line-merge.ts";

const rank = (number: number) => ({ kind: "rank", rank: number }) as const;

function merge() {
  const passed: [number, number, boolean, string][] = [];
  const open: (() => void)[] = [];
  const lines = new LineMerge(({ printer, number, startsLine, bytes }: Lines, done) => {
    passed.push([printer.kind === "rank" ? printer.rank : -1, number, startsLine, bytes.toString()]);
    open.push(done);
  });
  const offer = (from: number, number: number, text: string, flush = false, offset = 0): void =>
    lines.accept(rank(from), { stream: "stdout", number, offset, bytes: Buffer.from(text), flush }, () => {});
  return { lines, passed, open, offer };
}

test("X2: lines are passed on whole, whatever the pieces they came in", () => {
  const { passed, offer } = merge();
  offer(0, 0, "one\ntw");
  offer(1, 0, "uno\n");
  offer(0, 1, "o", false, 2);
  offer(0, 1, "\nthree\nfour", false, 3);
  assert.deepEqual(passed, [
    [0, 0, true, "one\n"],
    [1, 0, true, "uno\n"],
    [0, 1, true, "two\nthree\n"],
  ]);
});

test("X2: the first offer of a line wins, repeats are dropped", () => {
  const { passed, offer } = merge();
  offer(0, 0, "a\nb\n");
  offer(0, 0, "a\nb\nc\n");
  offer(0, 1, "B\n");
  offer(0, 3, "d\n");
  assert.deepEqual(
    passed.map(([, number, , text]) => [number, text]),
    [
      [0, "a\nb\n"],
      [2, "c\n"],
      [3, "d\n"],
    ],
  );
});

test("X2: a line that is flushed goes out unfinished and keeps its number", () => {
  const { passed, lines, offer } = merge();
  offer(0, 0, "a\nwho?", true);
  offer(0, 1, " me\nend", false, 4);
  lines.finishAll();
  assert.deepEqual(passed, [
    [0, 0, true, "a\n"],
    [0, 1, true, "who?"],
    [0, 1, false, " me\n"],
    [0, 2, true, "end"],
  ]);
});

test("X2: a life that begins again inside a line, or prints an unfinished one again, repeats no byte", () => {
  const { passed, lines, offer } = merge();
  offer(0, 0, "zero\none, tw", true);
  // From an image in the middle of the line.
  offer(0, 1, "two, thr", false, 5);
  offer(0, 1, "ee\n", false, 13);
  // From the beginning.
  offer(0, 0, "zero\none, two, three\nfo");
  offer(0, 2, "ur\n", false, 2);
  lines.finishAll();
  assert.equal(passed.map(([, , , text]) => text).join(""), "zero\none, two, three\nfour\n");
});

test("X2: idle when everything has left", async () => {
  const { lines, open, offer } = merge();
  offer(0, 0, "a\n");
  let idle = false;
  const waiting = lines.whenIdle().then(() => {
    idle = true;
  });
  await Promise.resolve();
  assert.equal(idle, false);
  open[0]!();
  await waiting;
  assert.equal(idle, true);
});

test("X2: on a terminal an unfinished line is shown in a moment, unless another one's stands there", () => {
  const passed: string[] = [];
  const soon: (() => void)[] = [];
  let shown: number | undefined;
  const lines = new LineMerge(
    ({ printer, bytes }, done) => {
      passed.push(bytes.toString());
      shown = bytes.at(-1) === 10 || printer.kind !== "rank" ? undefined : printer.rank;
      done();
    },
    {
      mayShow: (printer) => shown === undefined || (printer.kind === "rank" && printer.rank === shown),
      soon: (act) => void soon.push(act),
    },
  );
  const offer = (from: number, number: number, text: string, offset = 0): void =>
    lines.accept(rank(from), { stream: "stdout", number, offset, bytes: Buffer.from(text), flush: false }, () => {});
  const wait = (): void => {
    for (const act of soon.splice(0)) act();
  };
  offer(0, 0, "Na");
  offer(0, 0, "me? ", 2);
  assert.deepEqual(passed, []);
  wait();
  assert.deepEqual(passed, ["Name? "]);
  offer(1, 0, "thinking");
  wait();
  offer(0, 0, "Ada\n", 6);
  offer(1, 0, "\n", 8);
  wait();
  assert.deepEqual(passed, ["Name? ", "Ada\n", "thinking\n"]);
});
