/**
 * Ranks that wait in their data planes, with little room and whole turns (ADR 26): the plane leaves messages in rings that an engine which
 * waits would take out, so senders find room at other times and calls cannot be compared one by one (data-plane.test.ts). The results can:
 * these programs have the same ones in whatever order their ranks have their turns.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tries } from "../../../test/long.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { PlaneWorld, type PlaneWorldOptions, WAITS } from "./testing/plane-world.ts";
import { bytesUsed, comparable, randomSteps, type Step, textOf } from "./testing/random-calls.ts";

const ERRORS_RETURN = 0x143;
const COMM_WORLD = 0x101;
const stepsPerProgram = 120;
const programs = tries(4, 24);

interface Results {
  /** Of each rank: its calls so far, and their answers. */
  readonly answers: readonly (readonly string[])[];
  readonly memories: readonly Uint8Array[];
  /** Has every rank come to its end? In some programs ranks wait for each other for ever. */
  readonly isComplete: boolean;
}

interface Run {
  readonly world: PlaneWorld;
  /** The calls of each rank. */
  readonly program: readonly (readonly Step[])[];
  /** Of what is in the memories at first. */
  readonly seed: number;
  /** Of the choice which rank goes on. */
  readonly turnSeed: number;
  /** Do engines take over waits of planes now and then? */
  readonly mayLeave: boolean;
}

function resultsOf({ world, program, seed, turnSeed, mayLeave }: Run): Results {
  const turns = new SeededRandom(turnSeed);
  const queues = program.map((steps) => [...steps]);
  const answers = program.map((): string[] => []);
  for (const rank of world.ranks) {
    const fill = new SeededRandom(seed * 64 + rank.process.rank);
    for (let at = 4096; at < bytesUsed; at += 4) rank.ints[at >> 2] = fill.bits();
    rank.call("MPI_Init", 0, 0);
    rank.call("MPI_Comm_set_errhandler", COMM_WORLD, ERRORS_RETURN);
  }
  const isOver = (rank: number): boolean => queues[rank]!.length === 0 && !world.ranks[rank]!.isWaiting;
  for (let idle = 0; idle < 300 * queues.length; ) {
    const rank = turns.bits() % queues.length;
    if (isOver(rank)) {
      idle++;
      continue;
    }
    const own = world.ranks[rank]!;
    let answer: number;
    if (own.isWaiting) answer = goOn(own, mayLeave && turns.bits() % 16 === 0);
    else {
      const step = queues[rank]!.shift()!;
      answers[rank]!.push(textOf(step));
      answer = own.call(step.name, ...step.args.map((arg) => (typeof arg === "number" ? arg : own.ints[arg.at >> 2]!)));
    }
    if (answer === WAITS) idle++;
    else {
      idle = 0;
      answers[rank]!.push(`${answers[rank]!.pop()} → ${answer}`);
    }
  }
  const isComplete = queues.every((_, rank) => isOver(rank));
  return { answers, memories: world.ranks.map(({ bytes }) => comparable(bytes)), isComplete };
}

/** `shallLeave`: as when the thread has slept for long, the engine waits. */
function goOn(rank: PlaneWorld["ranks"][number], shallLeave: boolean): number {
  const { planeWait } = rank;
  const leaves = shallLeave && planeWait.isUnderWay;
  if (leaves) planeWait.leave();
  const answer = rank.goOn();
  assert.ok(!leaves || answer !== WAITS || !planeWait.isUnderWay, "a wait that the plane shall leave is the engine's");
  return answer;
}

const seedFirst = Number(process.env["BANYAN_SEED"] ?? 1) || 1;

for (const planeWaits of ["none", "all"] as const) {
  const whose = planeWaits === "all" ? "planes that wait themselves" : "planes whose engines wait";
  test(`ADR 26: little room, exchanges and messages from behind others have the same results with ${whose}`, () => {
    let [complete, waits, received] = [0, 0, 0];
    for (let i = 0; i < programs; i++) {
      const seed = seedFirst * 9000 + i;
      const ranks = 2 + (i % 4);
      const random = new SeededRandom(seed);
      const collectives = i % 3 === 0 ? 20 : 0;
      const program = randomSteps({
        ...{ random, ranks, steps: stepsPerProgram },
        ...{ exchanges: true, requests: i % 2 === 0, collectives, isDeterminate: true },
      });
      const options: Omit<PlaneWorldOptions, "hasPlane"> = {
        ranks,
        planeWaits,
        looksAhead: [1, 2, 4][i % 3]!,
        unexpectedBytesMax: 1 << 24,
        beginsRequests: true,
      };
      const planed = new PlaneWorld({ ...options, hasPlane: true });
      const plain = new PlaneWorld({ ...options, hasPlane: false });
      const shared = { program, seed, mayLeave: i % 2 === 0 };
      const ours = resultsOf({ ...shared, world: planed, turnSeed: seed + 1 });
      const theirs = resultsOf({ ...shared, world: plain, turnSeed: seed + 2 });
      for (const { plane, planeWaits: stops } of planed.ranks) {
        waits += stops;
        received += plane!.pass.received;
      }
      assert.deepEqual(ours.answers, theirs.answers, `seed ${seed}`);
      for (let rank = 0; rank < ranks; rank++) {
        assert.equal(
          Buffer.compare(ours.memories[rank]!, theirs.memories[rank]!),
          0,
          `seed ${seed}, memory of ${rank}`,
        );
      }
      if (ours.isComplete) complete++;
    }
    assert.ok(complete > programs / 2, `${complete} of ${programs} programs come to their end`);
    assert.ok(received > 100 && (planeWaits === "none" || waits > 100), `planes took part: ${received}, ${waits}`);
  });
}
