/**
 * The ring under every interleaving: nothing is lost, doubled, reordered or torn; a killed producer stops nobody; a full
 * ring says so and works again; nobody sleeps over a packet or over room.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { long } from "../../../../../test/long.ts";
import { BYTES, EXTRA, KIND, SEQUENCE, SOURCE } from "../../../../core/wire/packet.ts";
import { Line, RankStatus, Ring } from "../../layout.ts";
import moduleBytes from "../../node.wat";
import { type DecodedModule, decode, type Instruction, Op } from "./decoder.ts";
import {
  BrokenInvariant,
  become,
  call,
  type Exploration,
  explore,
  sleep,
  step,
  type Thread,
  type ThreadAction,
  until,
} from "./explorer.ts";
import { Machine } from "./machine.ts";

const program = decode(moduleBytes);
const slots = 4;
/** Positions wrap after the second packet. */
const firstPosition = -2;
/** The consumer is process 0; its ring lies behind the lines, then a word that says that nobody will send any more. */
const consumer = 0;
const lineOf = (process: number) => process * Line.BYTES;

interface RingOptions {
  /** Packets of each producer. */
  readonly packets: readonly number[];
  readonly kills?: number;
  /** Only this producer may be killed: the others are like it. */
  readonly mortal?: number;
  /** Does everybody sleep when there is nothing to do, or only wait? */
  readonly sleeps?: boolean;
  /** The consumer shares a thread, and sleeps on the bell of another process. */
  readonly sharesBell?: boolean;
  readonly module?: DecodedModule;
  readonly broken?: "payload after commit" | "no settling" | "no second look";
}

function ringRuns(options: RingOptions): Exploration {
  const { packets, kills = 0, mortal, sleeps = false, sharesBell = false, module = program, broken } = options;
  const producers = packets.length + 1;
  /** Behind the lines of those that take part: the one that has the bell of the consumer's thread. */
  const neighbour = producers;
  const ring = (producers + 1) * Line.BYTES;
  const closed = ring + Ring.SLOTS + slots * 128;
  const machineOf = (process: number) =>
    new Machine(module, { lines: 0, producers, slots, own: lineOf(process), break: 0, end: 0 });
  const payloadOf = (source: number, number: number) => 1000 * source + number;

  const words = new Int32Array((closed + 8) >> 2);
  for (let process = 0; process < producers; process++) words[(lineOf(process) + Line.STATUS) >> 2] = RankStatus.ALIVE;
  for (const at of [Ring.TAIL, Ring.HEAD]) words[(ring + at) >> 2] = firstPosition;
  for (let i = 0; i < slots; i++) {
    const position = firstPosition + i;
    words[(ring + Ring.SLOTS + (position & (slots - 1)) * 128) >> 2] = position - slots + 1;
  }

  /** One packet, as `reserve` and `#reserveInFull` of RingTransport with `Waiting` between the attempts. */
  function* produce(process: number, number: number, announced: boolean): Thread {
    if (number === packets[process - 1]) return "sent";
    let slot = yield call("reserve", ring);
    if (slot === 0) {
      yield call("awaitRoom", ring, process);
      slot = yield call("reserve", ring);
    }
    if (slot === 0) {
      if (broken === "no second look") {
        yield call("store", lineOf(process), 1);
        yield sleep(lineOf(process));
        return become(`${number}`, () => produce(process, number, false));
      }
      if (announced) yield sleep(lineOf(process));
      yield call("store", lineOf(process), announced ? 0 : 1);
      return become(`${number} ${!announced}`, () => produce(process, number, !announced));
    }
    if (announced) yield call("store", lineOf(process), 0);
    const word = slot >> 2;
    const header = (w: Int32Array) => {
      w[word + KIND] = 1;
      w[word + SEQUENCE] = number;
      w[word + BYTES] = 4;
    };
    const payload = (w: Int32Array) => {
      w[word + EXTRA] = payloadOf(process, number);
    };
    const commit = call("commit", slot, lineOf(consumer), process, slot + 32);
    if (broken === "payload after commit") {
      yield step(header);
      yield commit;
      yield step(payload);
    } else {
      yield step((w) => {
        header(w);
        payload(w);
      });
      yield commit;
    }
    return become(`${number + 1}`, () => produce(process, number + 1, false));
  }

  /** The consumer says that it is about to sleep, or is awake. */
  function* announce(parks: boolean): Generator<ThreadAction, void, number> {
    const bells: [number, number][] = sharesBell
      ? [
          [lineOf(consumer), lineOf(neighbour)],
          [lineOf(neighbour), 1],
        ]
      : [[lineOf(consumer), 1]];
    for (const [bell, value] of bells) yield call("store", bell, parks ? value : 0);
  }

  /** One packet, or one nap. Returns at last what it received, as source * 100 + number. */
  function* consume(position: number, received: readonly number[], announced: boolean): Thread {
    const slot = ring + Ring.SLOTS + (position & (slots - 1)) * 128;
    const stamp = (position + 1) | 0;
    let isClosed: boolean;
    let isThere: boolean;
    if (sleeps) {
      isClosed = (yield call("load", closed)) === 1;
      isThere = (yield call("load", slot)) === stamp;
    } else {
      const what = yield until(({ words: w }) => (w[slot >> 2] === stamp ? 1 : w[closed >> 2] === 1 ? 2 : 0));
      isClosed = what === 2;
      isThere = what === 1;
    }
    if (!isThere && isClosed) {
      const tail = yield call("load", ring);
      if (tail !== position) throw new BrokenInvariant(`the ring is stuck at ${position}, its tail is ${tail}`);
      return received;
    }
    if (!isThere) {
      // As `Waiting`: announce, look at everything again, sleep.
      if (announced) yield sleep(lineOf(sharesBell ? neighbour : consumer));
      yield* announce(!announced);
      return become(`${received} ${position} ${!announced}`, () => consume(position, received, !announced));
    }
    if (announced) yield* announce(false);
    yield call("open", slot);
    const seen = yield step((w) => {
      const word = slot >> 2;
      if (w[word + KIND] === 0) return -1;
      const [source, number] = [w[word + SOURCE]!, w[word + SEQUENCE]!];
      return w[word + EXTRA] === payloadOf(source, number) ? source * 100 + number : -2;
    });
    if (seen === -2) throw new BrokenInvariant(`the packet at ${position} is torn`);
    const all = seen >= 0 ? [...received, seen] : received;
    if ((yield call("publish", ring, stamp)) === 1) {
      const waiters = yield call("takeWaiters", ring, 0);
      for (let process = 0; process < producers; process++) {
        if (((waiters >> process) & 1) === 1) yield call("ring", lineOf(process));
      }
    }
    return become(`${all} ${stamp}`, () => consume(stamp, all, false));
  }

  /** Would `settle` find out by now? Only to wait for it without a loop. */
  function canSettle(w: Int32Array, dead: number): boolean {
    const intent = (process: number, half: number) => w[((lineOf(process) + Line.INTENT) >> 2) + half];
    const position = intent(dead, 0)!;
    const isCommitted = w[(ring + Ring.SLOTS + (position & (slots - 1)) * 128) >> 2]! - position - 1 >= 0;
    for (let process = 0; process < producers && !isCommitted; process++) {
      if (process === dead || w[(lineOf(process) + Line.STATUS) >> 2] !== RankStatus.ALIVE) continue;
      if (intent(process, 0) === intent(dead, 0) && intent(process, 1) === intent(dead, 1)) return false;
    }
    return true;
  }

  function* rouseAll(): Generator<ThreadAction, void, number> {
    if (!sleeps) return;
    for (let process = 0; process < producers; process++) yield call("rouse", lineOf(process));
  }

  /** The node's main thread, as LivingProcesses: marks those whose threads have been killed, and settles them. */
  function* bury(running: readonly number[], unsettled: readonly number[]): Thread {
    if (running.length + unsettled.length === 0) {
      yield call("store", closed, 1);
      yield* rouseAll();
      return "buried";
    }
    const event = yield until((view) => {
      for (const process of running) if (view.isOver(process)) return process * 2 + (view.isDead(process) ? 1 : 0);
      for (const process of unsettled) if (canSettle(view.words, process)) return 100 + process;
      return 0;
    });
    const process = event >= 100 ? event - 100 : event >> 1;
    const stillRunning = running.filter((other) => other !== process);
    let stillUnsettled = unsettled.filter((other) => other !== process);
    if (event < 100 && (event & 1) === 1) {
      yield call("store", lineOf(process) + Line.STATUS, RankStatus.DEAD);
      yield* rouseAll();
    }
    if ((event >= 100 || (event & 1) === 1) && broken !== "no settling") {
      const found = yield call("settle", lineOf(process));
      if (found === 2) stillUnsettled = [...stillUnsettled, process];
      if (found === 1) yield* rouseAll();
    }
    return become(`${stillRunning} ${stillUnsettled}`, () => bury(stillRunning, stillUnsettled));
  }

  const everybody = packets.map((_, i) => i + 1);
  return explore({
    words,
    kills,
    threads: [
      { name: "consumer", machine: machineOf(consumer), run: () => consume(firstPosition, [], false) },
      ...packets.map((_, i) => ({
        name: `producer ${i + 1}`,
        machine: machineOf(i + 1),
        run: () => produce(i + 1, 0, false),
        mortal: mortal === undefined || mortal === i + 1,
      })),
      { name: "main", machine: machineOf(consumer), run: () => bury(everybody, []) },
    ],
    check([received, ...sent]) {
      packets.forEach((count, i) => {
        const process = i + 1;
        const numbers = (received as number[]).filter((x) => Math.floor(x / 100) === process).map((x) => x % 100);
        const inOrder = numbers.every((number, at) => number === at);
        if (!inOrder) throw new BrokenInvariant(`packets of producer ${process} arrived as ${numbers}`);
        if (sent[i] === "sent" && numbers.length !== count) {
          throw new BrokenInvariant(`producer ${process} sent ${count} packets, ${numbers.length} arrived`);
        }
      });
    },
  });
}

/** node.wat with one instruction of one function changed. */
function mutant(name: string, op: number, change: (a: number) => Instruction | null): DecodedModule {
  const index = program.exports.get(name)!;
  const functions = program.functions.map((func, i) => {
    if (i !== index) return func;
    let changed = 0;
    const code = func.code.map((instruction) => {
      if (instruction.op !== op) return instruction;
      const other = change(instruction.a);
      if (other !== null) changed++;
      return other ?? instruction;
    });
    assert.ok(changed > 0, "the mutant differs");
    return { ...func, code };
  });
  return { ...program, functions };
}

const survives = (title: string, options: RingOptions, when = {}) =>
  test(title, when, (t) => {
    const { states, ends } = ringRuns(options);
    t.diagnostic(`${states} states, ${ends} ends`);
    assert.ok(ends > 0);
  });
const finds = (title: string, options: RingOptions, what: RegExp) =>
  test(title, () => {
    assert.throws(
      () => ringRuns(options),
      (error: unknown) => error instanceof BrokenInvariant && what.test(error.message),
    );
  });

survives("one producer, more packets than slots", { packets: [6], kills: 1 });
survives("two producers, one is killed anywhere", { packets: [2, 1], kills: 1 });
survives("two producers, both are killed anywhere", { packets: [1, 1], kills: 2 });
survives("three producers, one is killed anywhere", { packets: [1, 1, 1], kills: 1, mortal: 2 }, long);
survives("two producers and a full ring", { packets: [3, 2] }, long);
survives("everybody sleeps, one producer fills the ring", { packets: [6], kills: 1, sleeps: true }, long);
survives("a consumer sleeps on the bell of its thread", { packets: [3], kills: 1, sleeps: true, sharesBell: true });
survives("everybody sleeps, two producers, one is killed anywhere", { packets: [1, 1], kills: 1, sleeps: true }, long);

finds("payload written after the commit", { packets: [1, 1], broken: "payload after commit" }, /torn/);
finds("the dead are not settled", { packets: [1, 1], kills: 1, broken: "no settling" }, /stuck/);
finds("sleeping without a second look", { packets: [6], sleeps: true, broken: "no second look" }, /waits for ever/);
for (const call of ["ring", "rouse"]) {
  finds(
    `${call} does not follow a bell that names another one`,
    {
      packets: [6],
      sleeps: true,
      sharesBell: true,
      module: mutant(call, Op.I32_CONST, (a) => (a === 2 ? { op: Op.I32_CONST, a: -1, b: 0 } : null)),
    },
    /waits for ever/,
  );
}
finds(
  "reserving without an intent",
  {
    packets: [1, 1],
    kills: 1,
    module: mutant("reserve", Op.I64_ATOMIC_STORE, (a) => ({ op: Op.I64_ATOMIC_STORE, a: a + 16, b: 0 })),
  },
  /stuck/,
);
finds(
  "settling without a look at the living",
  {
    packets: [1, 1],
    kills: 1,
    module: mutant("settle", Op.I32_CONST, (a) => (a === 255 ? { op: Op.I32_CONST, a: 0, b: 0 } : null)),
  },
  /arrived/,
);
