/**
 * Chunks of the heap never overlap and a killed thread blocks nobody; a joint copy says that all bytes are there only when
 * they are, with latecomers from an earlier work and a helper killed in the middle.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import moduleBytes from "../../node.wat";
import { type DecodedModule, decode, Op } from "./decoder.ts";
import { BrokenInvariant, become, call, type Exploration, explore, step, type Thread, until } from "./explorer.ts";
import { Machine } from "./machine.ts";

const program = decode(moduleBytes);

test("three threads claim chunks until the heap is empty, one is killed anywhere", (t) => {
  const [breakAt, heap, end] = [8, 64, 64 + 5 * 16];
  function* claim(got: readonly number[]): Thread {
    if (got.length === 2) return got;
    const chunk = yield call("claim", 16);
    if (chunk === 0) return got;
    const all = [...got, chunk];
    return become(`${all}`, () => claim(all));
  }
  const machine = () => new Machine(program, { lines: 0, producers: 1, slots: 4, own: 0, break: breakAt, end });
  const words = new Int32Array(32);
  words[breakAt >> 2] = heap;
  const { states, ends } = explore({
    words,
    kills: 1,
    threads: ["a", "b", "c"].map((name) => ({ name, machine: machine(), run: () => claim([]), mortal: true })),
    check(results, w) {
      const got = results.filter((chunks) => chunks !== undefined).flat() as number[];
      if (new Set(got).size !== got.length) throw new BrokenInvariant(`chunks overlap: ${got}`);
      if (got.some((chunk) => chunk < heap || chunk + 16 > end))
        throw new BrokenInvariant(`a chunk outside the heap: ${got}`);
      const isWhole = results.every((chunks) => chunks !== undefined);
      if (isWhole && got.length !== 5)
        throw new BrokenInvariant(`the heap has room for 5 chunks, given out were ${got.length}`);
      if (w[breakAt >> 2]! > end) throw new BrokenInvariant("the break is beyond the end");
    },
  });
  t.diagnostic(`${states} states, ${ends} ends`);
});

interface CopyOptions {
  readonly kills?: number;
  readonly module?: DecodedModule;
  /** The caller copies: it claims a chunk, copies it, says that it is done. */
  readonly inSteps?: boolean;
}

/** Two copies after another with one work, four chunks of two words each; the helper may come late to either. */
function copyRuns({ kills = 0, module = program, inSteps = false }: CopyOptions): Exploration {
  const [work, asked, bytes, chunk] = [16, 32, 28, 8];
  const from = (copy: number) => 64 + copy * 32;
  const to = (copy: number) => 128 + copy * 32;
  const words = new Int32Array(64);
  for (let i = 0; i < 16; i++) words[(64 >> 2) + i] = 100 + i;

  /** One side's part of a copy, then what it does next. */
  function* part(copy: number, who: string, then: () => Thread): Thread {
    const generation = copy + 1;
    if (!inSteps) {
      yield call("copyJointly", work, generation, to(copy), from(copy), bytes, chunk);
      return become(`${who} ${copy} copied`, then);
    }
    const offset = yield call("claimJointly", work, generation, bytes, chunk);
    if (offset < 0) return become(`${who} ${copy} copied`, then);
    return become(`${who} ${copy} at ${offset}`, () => piece(copy, who, offset, then));
  }
  function* piece(copy: number, who: string, offset: number, then: () => Thread): Thread {
    const length = Math.min(chunk, bytes - offset);
    yield step((w) => {
      const source = (from(copy) + offset) >> 2;
      w.copyWithin((to(copy) + offset) >> 2, source, source + (length >> 2));
      return 0;
    });
    yield call("doneJointly", work, length);
    return become(`${who} ${copy} again`, () => part(copy, who, then));
  }

  function* receive(copy: number): Thread {
    if (copy === 2) return "fetched";
    const generation = copy + 1;
    yield call("startJointly", work, generation);
    yield call("store", asked, generation);
    return become(`${copy} asked`, () => part(copy, "receiver", () => take(copy)));
  }
  function* take(copy: number): Thread {
    const isDone = yield until(({ words: w, isDead }) => (w[(work + 8) >> 2] === bytes ? 1 : isDead(1) ? 2 : 0));
    if (isDone === 2) return "gave up";
    const isRight = yield step((w) => {
      for (let i = 0; i < bytes >> 2; i++) if (w[(to(copy) >> 2) + i] !== w[(from(copy) >> 2) + i]) return 0;
      return 1;
    });
    if (isRight === 0) throw new BrokenInvariant(`copy ${copy} is called complete and is not`);
    return become(`${copy + 1}`, () => receive(copy + 1));
  }
  function* help(copy: number): Thread {
    if (copy === 2) return "helped";
    yield until(({ words: w, isOver }) => w[asked >> 2]! > copy || isOver(0));
    return become(`${copy} called`, () => part(copy, "helper", () => help(copy + 1)));
  }
  const machine = () => new Machine(module, { lines: 0, producers: 1, slots: 4, own: 0, break: 0, end: 0 });
  return explore({
    words,
    kills,
    threads: [
      { name: "receiver", machine: machine(), run: () => receive(0) },
      { name: "helper", machine: machine(), run: () => help(0), mortal: true },
    ],
    check([result], w) {
      if (result !== "fetched" && kills === 0) throw new BrokenInvariant("the copies were not completed");
      for (let copy = 0; copy < 2 && result === "fetched"; copy++) {
        for (let i = 0; i < 8; i++) {
          const wanted = i < bytes >> 2 ? w[(from(copy) >> 2) + i] : 0;
          if (w[(to(copy) >> 2) + i] !== wanted) throw new BrokenInvariant(`copy ${copy} was damaged later`);
        }
      }
    },
  });
}

test("a joint copy is complete when it says so", (t) => {
  t.diagnostic(`${copyRuns({}).states} states`);
});
test("a joint copy whose helper is killed anywhere", (t) => {
  t.diagnostic(`${copyRuns({ kills: 1 }).states} states`);
});
test("a joint copy between memories, in which each side copies its chunks itself", (t) => {
  t.diagnostic(`${copyRuns({ inSteps: true }).states} states`);
});
test("a joint copy between memories whose helper is killed anywhere", (t) => {
  t.diagnostic(`${copyRuns({ inSteps: true, kills: 1 }).states} states`);
});
test("a joint copy without generations is caught", () => {
  // Never less: a latecomer is not turned away.
  const index = program.exports.get("copyJointly")!;
  const functions = program.functions.map((func, i) => {
    if (i !== index) return func;
    const check = func.code.findIndex(({ op }) => op === Op.I32_NE);
    return { ...func, code: func.code.map((x, at) => (at === check ? { op: Op.I32_LT_U, a: 0, b: 0 } : x)) };
  });
  assert.throws(() => copyRuns({ module: { ...program, functions } }), BrokenInvariant);
});
