/**
 * The ring of determinants under every interleaving: no entry is lost, torn or out of its writer's order; nobody sleeps for ever on
 * the lock, on room, or on entries that are there. A writer that is killed stops others only if it had the lock.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, Op, type Program } from "../transport/explorer/decoder.ts";
import {
  become,
  call,
  type Exploration,
  explore,
  sleep,
  step,
  type Thread,
  until,
  Violation,
} from "../transport/explorer/explorer.ts";
import { Machine } from "../transport/explorer/machine.ts";
import { Appended, Head, headWords } from "./determinant-ring.ts";
import moduleBytes from "./determinant-ring.wat";

const program = decode(moduleBytes);
/** Positions, and entries of six words, go round the end. */
const firstPosition = -8;
/** The node's bell. */
const bell = 16;

interface Options {
  /** Entries of each writer. */
  readonly entries: readonly number[];
  readonly words?: number;
  /** Tries of the lock before a sleep. */
  readonly tries?: number;
  readonly kills?: number;
  readonly module?: Program;
}

function runs({ entries, words: size = 16, tries = 1, kills = 0, module = program }: Options): Exploration {
  const words = new Int32Array(headWords + size);
  for (const word of [Head.BORN, Head.FREED, Head.STABLE]) words[word] = firstPosition;
  const machine = () => new Machine(module, { words: size });

  /** As DeterminantWriter. */
  function* append(writer: number, number: number, tried: number): Thread {
    if (number === entries[writer]) return "appended";
    const args = [writer, 1, number, number + 1, number + 2];
    let outcome = yield tried === 0 ? call("append3", ...args) : call(tried <= tries ? "lock" : "lockOrSleep", 6);
    if (outcome === Appended.FULL) {
      yield until(({ words: w }) => ((w[Head.BORN]! - w[Head.FREED]!) | 0) + 6 <= size);
      return become(`${number} ${tried} room`, () => append(writer, number, tried));
    }
    if (outcome === Appended.BUSY) {
      if (tried > tries) yield sleep(4 * Head.LOCK, 2);
      const next = Math.min(tried + 1, tries + 1);
      return become(`${number} ${next}`, () => append(writer, number, next));
    }
    if (tried > 0) {
      yield step((w) => {
        for (const [i, word] of [6, ...args].entries()) w[headWords + ((w[Head.BORN]! + i) & (size - 1))] = word;
      });
      outcome = yield call("publish", 6);
    }
    if (outcome === Appended.CALL) {
      yield step((w) => {
        w[bell] = 1;
      });
    }
    return become(`${number + 1}`, () => append(writer, number + 1, 0));
  }

  /** As DeterminantReader, when the bell has rung. */
  function* take(seen: readonly number[]): Thread {
    const rung = yield until((view) => (view.words[bell] === 1 ? 1 : entries.every((_, i) => view.isOver(i)) ? 2 : 0));
    yield step((w) => {
      w[bell] = 0;
    });
    const born = yield call("heed");
    const all = [...seen];
    const from = firstPosition + 6 * seen.length;
    for (let at = from; at !== born; at += 6) {
      const entry = yield step((w) => {
        const [length, writer, kind, ...data] = Array.from(
          { length: 6 },
          (_, i) => w[headWords + ((at + i) & (size - 1))]!,
        );
        const isWhole = length === 6 && kind === 1 && data[1] === data[0]! + 1 && data[2] === data[0]! + 2;
        return isWhole ? writer! * 100 + data[0]! : -1;
      });
      if (entry < 0) throw new Violation(`the entry at ${at} is torn`);
      all.push(entry);
    }
    if (born !== from) yield call("free", born);
    if (rung === 2) return all;
    return become(`${all}`, () => take(all));
  }

  return explore({
    words,
    kills,
    threads: [
      ...entries.map((_, i) => ({
        name: `writer ${i}`,
        machine: machine(),
        run: () => append(i, 0, 0),
        mortal: i === 0,
      })),
      { name: "node", machine: machine(), run: () => take([]) },
    ],
    check(results) {
      const seen = results.at(-1) as number[];
      for (const [writer, count] of entries.entries()) {
        const own = seen.filter((entry) => Math.floor(entry / 100) === writer).map((entry) => entry % 100);
        if (!own.every((number, at) => number === at)) throw new Violation(`writer ${writer}'s entries are ${own}`);
        if (results[writer] === "appended" && own.length !== count)
          throw new Violation(`of ${count} entries of writer ${writer} ${own.length} have come`);
      }
    },
  });
}

const survives = (title: string, options: Options) =>
  test(title, (t) => {
    const { states, ends } = runs(options);
    t.diagnostic(`${states} states, ${ends} ends`);
    assert.ok(ends > 0);
  });

survives("determinants of one writer go round the ring", { entries: [6] });
survives("determinants of two writers, who sleep on the lock", { entries: [2, 2], tries: 0 });
survives("determinants of two writers, who try again first", { entries: [2, 1], tries: 2 });
survives("determinants of three writers", { entries: [1, 1, 1], tries: 0, words: 32 });

/** One function changed. */
function mutant(index: number, change: (op: number) => number): Program {
  const functions = program.functions.map((func, i) =>
    i === index ? { ...func, code: func.code.map((it) => ({ ...it, op: change(it.op) })) } : func,
  );
  return { ...program, functions };
}

test("a lock that wakes nobody is found", () => {
  const release = program.functions.findIndex(({ code }) => code.some(({ op }) => op === Op.NOTIFY));
  const module = mutant(release, (op) => (op === Op.I32_EQ ? Op.I32_GT_U : op));
  assert.throws(() => runs({ entries: [1, 1], tries: 0, module }), /waits for ever/);
});

test("who is killed with the lock in hand stops the others of its set, who fall with it", () => {
  assert.throws(() => runs({ entries: [1, 1], tries: 0, kills: 1 }), /writer 1 waits for ever/);
});
