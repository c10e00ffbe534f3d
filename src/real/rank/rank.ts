/**
 * The thread of a rank: puts the process together, runs the user's program, and says how it ended. Loaded once for every
 * rank, so it must stay small.
 */

import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { assert } from "../../core/base/assert.ts";
import { roleOf } from "../../core/base/players.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import type { SpawnAnswer } from "../../core/process/spawner.ts";
import type { Ending } from "../../core/service/ending.ts";
import { bytesOfObject } from "../../mpi/objects.ts";
import { shareUndisturbed } from "../machine/undisturbed.ts";
import { bellOf, passGate } from "../messages/node-words.ts";
import type { FromRank, ThreadSetup, ToRank } from "../messages/rank-messages.ts";
import { rankVariables } from "../messages/rank-variables.ts";
import { LineWriter } from "../output/line-ring.ts";
import type { RankOptions } from "../process/open-process.ts";
import { endingOfError } from "./error-report.ts";
import { LateCache } from "./late-cache.ts";
import { RankCheckpoints } from "./rank-checkpoints.ts";
import { replaceGlobals, replaceRandom, SteadyClock } from "./rank-globals.ts";
import { isReader, mayRead } from "./rank-input.ts";
import { createRank } from "./rank-process.ts";
import { runProgram } from "./rank-program.ts";
import { beginLife, hearDeaths, protocolOf } from "./rank-protocol.ts";
import { rankSpawner } from "./rank-spawner.ts";
import { replaceStreams } from "./rank-streams.ts";

/** Given by the loader, see `rank-code.ts`. */
declare const createCache: () => Uint8Array;

assert(parentPort !== null, "rank.cjs runs as a worker thread");
const port = parentPort;
const setup = workerData as ThreadSetup;
shareUndisturbed(setup.undisturbed);
const { rank, incarnation, ranks, replicas, placement, nodeMap, seed, program, traceFile } = setup;
const { memory, handover, lines, words } = setup;
const role = roleOf(setup);
const say = (message: FromRank): void => port.postMessage(message);
const rankProtocol = protocolOf(setup, say);

// A thread's environment is its own.
Object.assign(process.env, setup.environment, rankVariables({ ...setup, ...role }));
process.argv = [process.execPath, program.path, ...program.args];

const lineWriter = new LineWriter(lines, bellOf(words));
const random = SeededRandom.ofRank(seed, role.rank);
const steady = new SteadyClock();
let checkpoints: RankCheckpoints | null = null;

const options: RankOptions = {
  rank,
  ranks,
  replicas,
  hostName: setup.hostName,
  placement,
  places: setup.places,
  nodeMap,
  incarnation,
  incarnations: setup.recovery?.incarnations ?? [],
  deaths: setup.deaths,
  protocol: rankProtocol.protocol,
  mayUseBoards: rankProtocol.mayUseBoards,
  survivesDeaths: rankProtocol.definition.deaths === "survived" || rankProtocol.layer !== null,
  isLayered: rankProtocol.layer !== null,
  napper: rankProtocol.napper,
  set: rankProtocol.set,
  memory,
  handover,
  whereabouts: setup.whereabouts,
  tell: say,
  traceFile,
  spawner: rankSpawner(setup, rankProtocol.definition.refusals.spawn, {
    say,
    settle: (isOver) => rankProcess.host.settle(isOver),
    nextAnswer,
  }),
  abort(code, message, members) {
    say({ kind: "abort", code, message, members });
    return waitForTheEnd();
  },
  result(value) {
    const bytes = bytesOfObject("give the result", value);
    rankProcess.mayLeave("result");
    say({ kind: "result", value: bytes });
  },
  checkpoint: (state) => checkpoints?.take(state),
  restored: () => checkpoints?.restored ?? null,
};
const rankProcess = createRank(options, rankProtocol.layer, (host) => {
  const { recovery } = setup;
  if (recovery === null) return;
  checkpoints = new RankCheckpoints({
    setup,
    recovery,
    protocol: rankProtocol,
    host,
    random,
    steady,
    say,
    lines: lineWriter.places,
    inputTaken: () => streams.inputTaken(),
  });
  checkpoints.begin();
});
const streams = replaceStreams({
  terminals: setup.terminals,
  mayRead: mayRead(setup, rankProtocol),
  isReader: () => isReader(role.rank, rankProcess.host.process),
  lines: lineWriter,
  port,
  mayLeave: rankProcess.mayLeave,
  host: rankProtocol.protocol === null ? null : rankProcess.host,
  inputOffset: inputOffsetOf(checkpoints),
});
Object.defineProperty(globalThis, Symbol.for("banyan.mpi"), { value: rankProcess.mpi });

beginLife(rankProcess.host.process, setup, say);
if (incarnation > 0) hearDeaths(rankProcess.host.process, setup);
if (rankProcess.choices !== null) replaceGlobals(rankProcess.choices, random, steady);
else if (replicas !== null) replaceRandom(random);

/** (The compiler does not see that it was made.) */
function inputOffsetOf(made: RankCheckpoints | null): number {
  return made?.inputOffset ?? 0;
}

/** The answer to a spawn. What else comes while the program waits for it is standard input. */
function nextAnswer(): SpawnAnswer | undefined {
  const received = receiveMessageOnPort(port) as { message: ToRank } | undefined;
  if (received?.message.kind === "input") streams.heard(received.message);
  return received?.message.kind === "spawn-answer" ? received.message.answer : undefined;
}

type Progress = { kind: "running" } | { kind: "returned" } | { kind: "exiting" } | { kind: "threw"; error: unknown };
let progress: Progress = { kind: "running" };

const exit = process.exit;
process.exit = (code) => {
  if (progress.kind !== "threw") progress = { kind: "exiting" };
  return exit(code);
};
const lateCache = LateCache.for(setup, createCache);
process.on("exit", (code) => {
  const made = lateCache?.make(null);
  if (made !== undefined) say({ kind: "compiled", ...made });
  say({ kind: "ending", ending: endingNow(code) });
});

function endingNow(code: number): Ending {
  const failure = failureNow(code);
  if (failure === undefined) {
    rankProcess.host.whereabouts.hasEnded = true;
    const requests = rankProcess.finish();
    if (requests > 0) return { kind: "unfinished", requests };
    const { protocol } = rankProcess.host.process;
    if (protocol !== null) say({ kind: "report", report: protocol.report() });
    if (protocol?.finishedServe !== true) return { kind: "returned" };
    // Rule 9: a rank that has finished serves.
    say({ kind: "done", incarnation });
    return rankProcess.serve();
  }
  rankProcess.close();
  return failure;
}

function failureNow(code: number): Ending | undefined {
  if (progress.kind === "threw") return endingOfError(progress.error);
  if (code !== 0) return { kind: "exited", code };
  return progress.kind === "running" ? { kind: "starved" } : undefined;
}

/** The node will terminate this thread; nothing of the program may run until then. */
function waitForTheEnd(): never {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(never, 0, 0, 1000);
}

/** MPI is initialised for it, so this is what the fault plan calls "at init". Nothing else is sent to it by now. */
function standStill(): void {
  say({ kind: "stands-still", call: 0 });
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (receiveMessageOnPort(port) === undefined) Atomics.wait(never, 0, 0, 1);
}

const jobForm = passGate(words);
// A spawned program is there, in one form, and need not be that of the job's own.
const form = setup.origin === null ? jobForm : program.bundle.script === "" ? "module" : "script";
// Not before: our own bundle's map would be read and parsed by every rank.
process.setSourceMapsEnabled(true);
rankProcess.host.whereabouts.begin();
say({ kind: "runs", marks: null });
if (setup.watch?.init === true) standStill();
async function run(): Promise<void> {
  rankProcess.mpi.meetParents();
  await runProgram(form, program, setup);
}
run().then(
  () => {
    if (progress.kind === "running") progress = { kind: "returned" };
  },
  (error: unknown) => {
    progress = { kind: "threw", error };
    exit(1);
  },
);
