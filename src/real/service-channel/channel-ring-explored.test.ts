/**
 * The rings of a channel's client under every interleaving. On their way out: no entry is lost, torn or out of its writer's order;
 * nobody sleeps for ever on the lock, on room, or on entries that are there. A writer that is killed stops others only if it had
 * the lock. On their way back: every word is taken once, in order, by whichever thread, and known to be from its own process.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { longUnless } from "../../../test/long.ts";
import { type DecodedModule, decode, Op } from "../transport/testing/explorer/decoder.ts";
import {
  BrokenInvariant,
  become,
  call,
  type Exploration,
  explore,
  sleep,
  step,
  type Thread,
  until,
} from "../transport/testing/explorer/explorer.ts";
import { Machine } from "../transport/testing/explorer/machine.ts";
import { Appended, Head, headWords } from "./channel-ring.ts";
import moduleBytes from "./channel-ring.wat";

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
  readonly module?: DecodedModule;
}

function runs({ entries, words: size = 16, tries = 1, kills = 0, module = program }: Options): Exploration {
  const words = new Int32Array(headWords + size);
  for (const word of [Head.BORN, Head.FREED, Head.STABLE]) words[word] = firstPosition;
  const machine = () => new Machine(module, { words: size });

  /** As ChannelThread. */
  function* append(writer: number, number: number, tried: number): Thread {
    if (number === entries[writer]) return "appended";
    const args = [6, writer, 1, number, number + 1, number + 2];
    let outcome = yield tried === 0 ? call("append6", ...args) : call(tried <= tries ? "lock" : "lockOrSleep", 6);
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
        for (const [i, word] of args.entries()) w[headWords + ((w[Head.BORN]! + i) & (size - 1))] = word;
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

  /** As ChannelHost, when the bell has rung. */
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
      if (entry < 0) throw new BrokenInvariant(`the entry at ${at} is torn`);
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
        if (!own.every((number, at) => number === at))
          throw new BrokenInvariant(`writer ${writer}'s entries are ${own}`);
        if (results[writer] === "appended" && own.length !== count)
          throw new BrokenInvariant(`of ${count} entries of writer ${writer} ${own.length} have come`);
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

survives("L1 entries of one writer go round the ring", { entries: [6] });
survives("L1 entries of two writers, who sleep on the lock", { entries: [2, 2], tries: 0 });
survives("L1 entries of two writers, who try again first", { entries: [2, 1], tries: 2 });
survives("L1 entries of three writers", { entries: [1, 1, 1], tries: 0, words: 32 });

/** Words that come back, the first two from one process of the service and the others from the next. */
const backWords = 4;
const originOf = (number: number): number => (number < 2 ? 1 : 2);

function runsBack(takers: number, module: DecodedModule = program): Exploration {
  const size = 2;
  const words = new Int32Array(headWords + size);
  for (const word of [Head.ARRIVED, Head.CONSUMED]) words[word] = firstPosition;
  const indexOf = (position: number): number => headWords + (position & (size - 1));
  const isFull = (w: Int32Array): boolean => ((w[Head.ARRIVED]! - w[Head.CONSUMED]!) | 0) >= size;

  /** As ChannelDriver, with RingIncoming. */
  function* drive(): Thread {
    yield until(({ words: w }) => w[Head.DRIVER] === 0);
    if ((yield call("tryDrive")) === 0) return become("", drive);
    const arrived = yield call("arrived");
    const number = arrived - firstPosition;
    if (number === backWords) {
      yield call("leaveDrive");
      return "driven";
    }
    const isOther = (yield call("origin")) !== originOf(number);
    if (isOther && (yield call("beginAnew", originOf(number))) === 0) {
      yield call("leaveDrive");
      yield until(({ words: w }) => w[Head.ARRIVED] === w[Head.CONSUMED] || w[Head.ARRIVED] !== arrived);
      return become("", drive);
    }
    if (((arrived - (yield call("consumed"))) | 0) >= size) {
      yield call("leaveDrive");
      yield until(({ words: w }) => !isFull(w));
      return become("", drive);
    }
    yield step((w) => {
      w[indexOf(arrived)] = number;
    });
    yield call("arrive", arrived + 1);
    yield call("leaveDrive");
    return become("", drive);
  }

  /** As ChannelThread takes. */
  function* take(): Thread {
    const end = firstPosition + backWords;
    yield until(({ words: w }) => w[Head.CONSUMED] !== w[Head.ARRIVED] || w[Head.CONSUMED] === end);
    if ((yield call("tryTake")) === 0) {
      yield until(({ words: w }) => w[Head.TAKER] === 0);
      return become("", take);
    }
    const consumed = yield call("consumed");
    const arrived = yield call("arrived");
    const origin = yield call("origin");
    for (let at = consumed; at !== arrived; at++) {
      const number = yield step((w) => w[indexOf(at)]!);
      if (number !== at - firstPosition) throw new BrokenInvariant(`word ${number} at ${at - firstPosition}`);
      if (origin !== originOf(number))
        throw new BrokenInvariant(`word ${number} is taken for one of process ${origin}`);
    }
    if (arrived !== consumed) yield call("consume", arrived);
    yield call("leaveTake");
    return consumed === end ? "taken" : become("", take);
  }

  const machine = () => new Machine(module, { words: size });
  return explore({
    words,
    threads: [
      { name: "driver 0", machine: machine(), run: drive },
      { name: "driver 1", machine: machine(), run: drive },
      ...Array.from({ length: takers }, (_, i) => ({ name: `taker ${i}`, machine: machine(), run: take })),
    ],
    check(_results, w) {
      if (w[Head.CONSUMED] !== firstPosition + backWords) throw new BrokenInvariant("words were not taken");
    },
  });
}

for (const takers of [1, 2]) {
  test(
    `L1, V8 words that come back are taken once and in order (${takers} threads take)`,
    longUnless(takers === 1),
    (t) => {
      const { states, ends } = runsBack(takers);
      t.diagnostic(`${states} states, ${ends} ends`);
      assert.ok(ends > 0);
    },
  );
}

/** One function changed. */
function mutant(index: number, change: (op: number) => number): DecodedModule {
  const functions = program.functions.map((func, i) =>
    i === index ? { ...func, code: func.code.map((it) => ({ ...it, op: change(it.op) })) } : func,
  );
  return { ...program, functions };
}

test("L1 a lock that wakes nobody is found", () => {
  const release = program.functions.findIndex(({ code }) => code.some(({ op }) => op === Op.NOTIFY));
  const module = mutant(release, (op) => (op === Op.I32_EQ ? Op.I32_GT_U : op));
  assert.throws(() => runs({ entries: [1, 1], tries: 0, module }), /waits for ever/);
});

test("L1 who is killed with the lock in hand stops the others of its life, who fall with it", () => {
  assert.throws(() => runs({ entries: [1, 1], tries: 0, kills: 1 }), /writer 1 waits for ever/);
});

test("V8 another process of the service that begins before all words of the old one were taken is found", () => {
  const module = mutant(program.exports.get("beginAnew") ?? -1, (op) => (op === Op.I32_NE ? Op.I32_GT_S : op));
  assert.throws(() => runsBack(1, module), /is taken for one of process 2/);
});
