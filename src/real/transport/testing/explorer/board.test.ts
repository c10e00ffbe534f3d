/**
 * Boards under every interleaving: who passes a gate reads the complete result of its round, also when others are a round
 * ahead; a killed member leaves the others at a shut gate with nothing corrupt, and the board becomes free; a withdrawn
 * arrival can be repeated.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BoardPart, Line } from "../../layout.ts";
import moduleBytes from "../../node.wat";
import { decode } from "./decoder.ts";
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
} from "./explorer.ts";
import { Machine } from "./machine.ts";

const program = decode(moduleBytes);
const lineOf = (process: number) => process * Line.BYTES;

interface BoardOptions {
  readonly members: number;
  readonly rounds: number;
  readonly kills?: number;
  readonly sleeps?: boolean;
  /** The first member takes its first arrival back once, if it still can. */
  readonly withdraws?: boolean;
  readonly broken?: "one bank" | "open before the result";
}

function boardRuns(options: BoardOptions): Exploration {
  const { members, rounds, kills = 0, sleeps = false, withdraws = false, broken } = options;
  const board = members * Line.BYTES;
  const gate = board + BoardPart.GATE;
  // Parts and results are one word each here.
  const bankOf = (round: number) => (broken === "one bank" ? 0 : round & 1);
  const arrivedOf = (round: number) => board + BoardPart.ARRIVED + bankOf(round) * 128;
  const data = (board + BoardPart.DATA) >> 2;
  const partOf = (round: number, member: number) => data + bankOf(round) * (members + 1) + member + 1;
  const resultOf = (round: number) => data + bankOf(round) * (members + 1);
  const valueAt = (round: number, member: number) => (round + 1) * 10 ** member;
  const sumOf = (round: number) => Array.from({ length: members }, (_, m) => valueAt(round, m)).reduce((a, b) => a + b);

  const words = new Int32Array(data + 2 * (members + 1) + 2);
  words[board >> 2] = (1 << members) - 1;
  for (let member = 0; member < members; member++) words[(board + BoardPart.MEMBERS + member * 4) >> 2] = member + 1;

  function* take(member: number, round: number, mayWithdraw: boolean): Thread {
    if (round === rounds) {
      yield call("boardLeave", board, member);
      return "left";
    }
    yield step((w) => {
      w[partOf(round, member)] = valueAt(round, member);
    });
    if ((yield call("boardArrive", arrivedOf(round), members)) === 1) {
      const combine = step((w) => {
        let sum = 0;
        for (let other = 0; other < members; other++) sum += w[partOf(round, other)]!;
        w[resultOf(round)] = sum;
      });
      const open = call("boardOpen", board, arrivedOf(round), round + 1, members);
      yield broken === "open before the result" ? open : combine;
      yield broken === "open before the result" ? combine : open;
    } else if (mayWithdraw && (yield call("boardWithdraw", arrivedOf(round), members)) === 1) {
      return become(`${round} again`, () => take(member, round, false));
    }
    return become(`${round} waits`, () => pass(member, round, false));
  }

  /** As `while (!passed()) idle()`; a death that has been announced ends it. */
  function* pass(member: number, round: number, announced: boolean): Thread {
    const look = (w: Int32Array) => w[gate >> 2] === round + 1;
    const death = data + 2 * (members + 1);
    let seen: number;
    if (sleeps) seen = (yield call("load", gate)) === round + 1 ? 1 : (yield call("load", death << 2)) === 1 ? 2 : 0;
    else seen = yield until((view) => (look(view.words) ? 1 : view.words[death] === 1 ? 2 : 0));
    if (seen === 0) {
      if (announced) yield sleep(lineOf(member));
      yield call("store", lineOf(member), announced ? 0 : 1);
      return become(`${round} ${!announced}`, () => pass(member, round, !announced));
    }
    if (announced) yield call("store", lineOf(member), 0);
    if (seen === 2) {
      yield call("boardLeave", board, member);
      return "gave up";
    }
    for (let other = 0; other < members; other++) {
      const part = yield step((w) => w[partOf(round, other)]!);
      if (part !== valueAt(round, other))
        throw new BrokenInvariant(`member ${member} read part ${part} in round ${round}`);
    }
    const result = yield step((w) => w[resultOf(round)]!);
    if (result !== sumOf(round)) throw new BrokenInvariant(`member ${member} read ${result} in round ${round}`);
    return become(`${round + 1} begins`, () => take(member, round + 1, false));
  }

  /** The main thread: leaves in the name of a dead member, then tells the others. */
  function* bury(): Thread {
    const all = [...Array(members).keys()];
    const dead = yield until((view) => {
      for (const member of all) if (view.isDead(member)) return member + 1;
      return all.every((member) => view.isOver(member)) ? 100 : 0;
    });
    if (dead === 100) return "nobody died";
    if ((yield call("load", board + BoardPart.MEMBERS + (dead - 1) * 4)) === dead)
      yield call("boardLeave", board, dead - 1);
    yield call("store", (data + 2 * (members + 1)) << 2, 1);
    for (const member of all) yield call("rouse", lineOf(member));
    return "buried";
  }

  return explore({
    words,
    kills,
    threads: [
      ...[...Array(members).keys()].map((member) => ({
        name: `member ${member}`,
        machine: new Machine(program, {
          lines: 0,
          producers: members,
          slots: 4,
          own: lineOf(member),
          break: 0,
          end: 0,
        }),
        run: () => take(member, 0, withdraws && member === 0),
        mortal: true,
      })),
      {
        name: "main",
        machine: new Machine(program, { lines: 0, producers: members, slots: 4, own: 0, break: 0, end: 0 }),
        run: bury,
      },
    ],
    check(results, w) {
      if (kills === 0 && results.slice(0, members).some((result) => result !== "left"))
        throw new BrokenInvariant("not all came through");
      if (w[board >> 2] !== 0) throw new BrokenInvariant("the board is not free though everybody has left");
    },
  });
}

const survives = (title: string, options: BoardOptions) =>
  test(title, (t) => {
    const { states, ends } = boardRuns(options);
    t.diagnostic(`${states} states, ${ends} ends`);
  });
const finds = (title: string, options: BoardOptions, what: RegExp) =>
  test(title, () => {
    assert.throws(
      () => boardRuns(options),
      (error: unknown) => error instanceof BrokenInvariant && what.test(error.message),
    );
  });

survives("two members, four rounds, one is killed anywhere", { members: 2, rounds: 4, kills: 1 });
survives("three members, three rounds", { members: 3, rounds: 3 });
survives("three members, one is killed anywhere", { members: 3, rounds: 1, kills: 1 });
survives("two sleeping members, one is killed anywhere", { members: 2, rounds: 2, kills: 1, sleeps: true });
survives("three sleeping members", { members: 3, rounds: 1, sleeps: true });
survives("an arrival is withdrawn and repeated", { members: 3, rounds: 2, withdraws: true });

finds("one bank instead of two", { members: 2, rounds: 3, broken: "one bank" }, /read/);
finds("the gate opens before the result is there", { members: 2, rounds: 1, broken: "open before the result" }, /read/);

/**
 * Two processes share a board as members 0 and 1 and leave it; process 0 may be killed anywhere. A third claims the board
 * as soon as it can, for itself and one more. It must never lose a bit to the main thread that cleans up after process 0.
 */
test("a board is claimed again while the main thread cleans up after a dead member", (t) => {
  const board = 512;
  const member = (index: number) => board + BoardPart.MEMBERS + index * 4;
  const machine = () => new Machine(program, { lines: 0, producers: 1, slots: 4, own: 0, break: 0, end: 0 });
  const words = new Int32Array((board + BoardPart.DATA) >> 2);
  words[board >> 2] = 3;
  words[member(0) >> 2] = 1;
  words[member(1) >> 2] = 2;
  function* leave(index: number): Thread {
    yield call("boardLeave", board, index);
    return "left";
  }
  function* claim(): Thread {
    yield until(({ words: w }) => w[board >> 2] === 0);
    if ((yield call("boardClaim", board, 2)) === 0) return become("again", claimWhenVacant);
    return "claimed";
  }
  function* claimWhenVacant(): Thread {
    yield until(({ words: w }) => (w[board >> 2]! | w[member(0) >> 2]! | w[member(1) >> 2]!) === 0);
    if ((yield call("boardClaim", board, 2)) === 0) return become("again", claimWhenVacant);
    return "claimed";
  }
  function* bury(): Thread {
    if ((yield until(({ isDead, isOver }) => (isDead(0) ? 1 : isOver(0) ? 2 : 0))) === 2) return "nobody died";
    if ((yield call("load", member(0))) === 1) yield call("boardLeave", board, 0);
    return "buried";
  }
  const { states } = explore({
    words,
    kills: 1,
    threads: [
      { name: "member 0", machine: machine(), run: () => leave(0), mortal: true },
      { name: "member 1", machine: machine(), run: () => leave(1) },
      { name: "claimer", machine: machine(), run: claim },
      { name: "main", machine: machine(), run: bury },
    ],
    check([, , claimed], w) {
      if (claimed !== "claimed") throw new BrokenInvariant("the board was never free again");
      if (w[board >> 2] !== 3) throw new BrokenInvariant(`the new members' bits are ${w[board >> 2]}`);
    },
  });
  t.diagnostic(`${states} states`);
});

test("a claimed board is nobody else's, a kill in the middle stops nobody", (t) => {
  const board = 512;
  const machine = () => new Machine(program, { lines: 0, producers: 1, slots: 4, own: 0, break: 0, end: 0 });
  function* claim(): Thread {
    for (let index = 0; index < 2; index++) {
      if ((yield call("boardClaim", board + index * BoardPart.DATA, 2)) === 1) return index;
    }
    return -1;
  }
  const { states } = explore({
    words: new Int32Array((board + 2 * BoardPart.DATA) >> 2),
    kills: 1,
    threads: ["a", "b", "c"].map((name) => ({ name, machine: machine(), run: claim, mortal: true })),
    check(results) {
      const got = results.filter((index) => index !== undefined && index !== -1);
      if (new Set(got).size !== got.length) throw new BrokenInvariant("two have claimed the same board");
    },
  });
  t.diagnostic(`${states} states`);
});
