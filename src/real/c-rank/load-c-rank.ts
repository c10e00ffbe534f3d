/** The program of a C rank is there: its module is instantiated, and a rank that had a life before reads its image. */
import { readFileSync } from "node:fs";
import { constants, hostname } from "node:os";
import { adoptBefore, firstLightRequest } from "../../abi/adopted-requests.ts";
import { cImportsOf } from "../../abi/c-imports.ts";
import { CProgram, canStop, newStack } from "../../abi/c-program.ts";
import { restOfExchange } from "../../abi/calls/exchanges.ts";
import { Ended } from "../../abi/ended.ts";
import { tellHowStarted } from "../../abi/how-started.ts";
import { ReplayedFiles } from "../../abi/replay/replayed-files.ts";
import { roleOf } from "../../core/base/players.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { AwaitedChoices } from "../../core/ft/awaited-choices.ts";
import { PerformedChoices } from "../../core/ft/performed-choices.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import { environmentOf } from "../../wasi/environment.ts";
import type { Files, Library } from "../../wasi/ports.ts";
import { newYield } from "../machine/yield.ts";
import type { GoOnAfter } from "../messages/rank-messages.ts";
import { rankVariables } from "../messages/rank-variables.ts";
import { restored } from "../messages/restore-gate.ts";
import { newLinePlaces } from "../output/line-ring.ts";
import { type OutputGate, outputGate } from "../output/output-gate.ts";
import { watchCalls } from "../rank/fault-watch.ts";
import { isReader } from "../rank/rank-input.ts";
import { beginLife, hearDeaths, rehearseChoices } from "../rank/rank-protocol.ts";
import type { CRankSavedState } from "./c-image.ts";
import { newLibrary } from "./c-library.ts";
import { CRankImages } from "./c-rank-images.ts";
import { CRank } from "./c-rank-life.ts";
import { filesOf } from "./node-files.ts";
import type { PlaneTurn } from "./plane-turns.ts";
import type { WaitingCRank } from "./waiting-c-rank.ts";

/** The error handler that programs begin with: `--initial-errhandler`. */
const initialHandlerVariable = "BANYAN_INITIAL_ERRHANDLER";

/** Calls by which a data plane begins requests. */
const beginnings = ["MPI_Isend", "MPI_Irecv"];

type Imports = ReturnType<typeof cImportsOf>;

/** Of a rank that shares its thread. */
interface SharedThread {
  /** Wraps imports. */
  change(imports: Imports): void;
  /** How its data plane waits; null: the thread has none. */
  readonly turn: PlaneTurn | null;
}

/** `shared`: null: it has its thread for itself. */
export function loadCRank(rank: WaitingCRank, shared: SharedThread | null = null): CRank {
  const { setup, process, lines, input } = rank;
  const { recovery } = setup;
  const { memory, program: binding } = process;
  const bytes = readFileSync(setup.program.bundle.wasm);
  const role = roleOf(setup);
  const random = SeededRandom.ofRank(setup.seed, role.rank);
  // In every life, or in all that play the rank, the same.
  const isSeeded = process.process.choices !== null || setup.replicas !== null;
  const library = libraryOf(rank, isSeeded ? random : null);
  const life: CRankSavedState = {
    stack: newStack(memory),
    end: { isReached: false },
    clock: { nowS: 0, steadyNs: 0n },
    descriptors: new Descriptors(library.files, setup.folders),
    pause: { untilNs: 0n },
    lines: lines.places,
    input,
    random,
  };
  const { program: place, environment } = setup;
  const initialHandler = environment?.[initialHandlerVariable];
  tellHowStarted(binding, { command: place.path, args: place.args, initialHandler });
  const images = new CRankImages(rank, life, library, bytes);
  const thawFrom = recovery === null ? setup.thawFrom : recovery.imageFolder;
  const arrived = recovery?.arrived ?? null;
  const isStarted = thawFrom !== "" || arrived !== null;
  if (arrived !== null) images.take(arrived);
  else if (isStarted) images.read(thawFrom);
  if (setup.restoreGate !== null) restored(setup.restoreGate);
  // A rank that was frozen prints for another job now, and reads another input behind the bytes that it had; one that was moved does not.
  if (recovery === null && !setup.isMoved) {
    Object.assign(lines.places, newLinePlaces());
    input.offset = 0;
  }
  beginLife(process.process, setup, (message) => rank.say(message));
  if (isStarted) hearDeaths(process.process, setup);
  // Threads of the process share its code: V8 knows the bytes.
  const module = new WebAssembly.Module(bytes);
  checkStops(rank, module);
  const { terminals } = setup;
  const world = { rank: role.rank, hostName: setup.hostName ?? hostname(), signalName, terminals };
  const imports = cImportsOf(module, { ...world, ...life, memory, library, program: binding });
  watch(rank, imports);
  shared?.change(imports);
  passThePlane(rank, imports, shared?.turn ?? null);
  const program = new CProgram(module, imports, binding, memory, life.stack);
  if (program.stackSwitch !== null) shared?.turn?.switchBy(program.stackSwitch);
  rank.program = program;
  if (!isStarted) rehearseChoices(rank.protocol, process.process, process.host);
  process.host.whereabouts.begin();
  rank.say({ kind: "runs", marks: program.marks });
  return new CRank(rank, { end: life.end, program, images, isStarted });
}

function checkStops({ setup, takesTurns }: WaitingCRank, module: WebAssembly.Module): void {
  const { mustFreeze, recovery } = setup;
  const mustStop = takesTurns ? "take turns" : mustFreeze || recovery !== null ? "be frozen" : "";
  if (mustStop === "" || canStop(module)) return;
  throw new Ended({ kind: "gave-up", why: `it cannot ${mustStop}: it was linked with --no-capture` });
}

/** Calls that need no engine go past the imports. `waits`: alone in its thread a rank waits in its engine. */
function passThePlane(rank: WaitingCRank, { mpi }: Imports, waits: PlaneTurn | null): void {
  const { process } = rank;
  if (process.plane === null) return;
  const { plane, ring, lookAtSockets } = process.plane;
  const { memory, program } = process;
  const imports = { ...mpi, restOfExchange: restOfExchange(program) };
  const light = beginnings.some((name) => name in mpi) ? plane.light : null;
  const engine = light === null ? imports : adoptBefore(program, light, imports);
  const firstRequest = light === null ? null : firstLightRequest;
  const { restOfExchange: _, ...changed } = engine;
  const wakeWaiters = (): void => ring.wakeWaiters();
  const wake = (other: number): void => ring.ring(other);
  const calls = plane.connect({ memory, engine, wakeWaiters, wake, lookAtSockets, waits, firstRequest });
  Object.assign(mpi, changed, calls);
}

/** A fault plan may wait for calls of the rank. */
function watch(rank: WaitingCRank, { mpi }: Imports): void {
  const { setup, process, inbox } = rank;
  if (setup.watch === null) return;
  const { host, program } = process;
  watchCalls(mpi, setup.watch, {
    say: (message) => rank.say(message),
    standStill: () => {
      let next: GoOnAfter | undefined;
      host.settle(() => {
        next = inbox.nextGoOn();
        return next !== undefined;
      });
      return next!.call;
    },
    isRepeated: () => program.suspension.isRewinding,
  });
}

/** `random`: the source of randomness where it must be the same more than once, null otherwise. */
function libraryOf(rank: WaitingCRank, random: SeededRandom | null): Library {
  const { setup, process: own, protocol, lines, input, inbox, takesTurns } = rank;
  const { run, program, folders, environment } = setup;
  const { host } = own;
  const mayLeave = outputGate(own.process.protocol, host);
  return newLibrary({
    run,
    args: [program.path, ...program.args],
    environment: environmentOf(
      { ...(environment ?? process.env), ...rankVariables({ ...setup, ...roleOf(setup) }) },
      folders,
    ),
    lines,
    input,
    isReader: () => isReader(roleOf(setup).rank, own.process),
    inbox,
    say: (message) => rank.say(message),
    suspension: own.program.suspension,
    mayLeave,
    files: filesFor(rank, mayLeave),
    settle: protocol.protocol === null ? null : (isOver) => host.settle(isOver),
    takesTurns,
    yield: newYield(),
    random,
  });
}

function filesFor(rank: WaitingCRank, mayLeave: OutputGate): Files {
  const { choices } = rank.process.process;
  const { recovery, folders } = rank.setup;
  let hasTold = false;
  const files = filesOf(folders, (path, target) => {
    if (!hasTold) rank.say({ kind: "leads-out", path, target });
    hasTold = true;
  });
  const { operations } = rank.process.process.protocol ?? { operations: null };
  if (operations !== null) {
    const { host } = rank.process;
    const performed = new PerformedChoices(operations, (isOver) => host.settle(isOver));
    const { beganMs } = rank.setup;
    return new ReplayedFiles({ files, choices: performed, beganMs, mayLeave: () => performed.mayChange() });
  }
  if (choices === null || recovery === null) return files;
  const { beganMs } = recovery;
  const { host } = rank.process;
  const awaited = new AwaitedChoices(choices, (isOver) => host.settle(isOver));
  return new ReplayedFiles({ files, choices: awaited, beganMs, mayLeave: () => mayLeave("file") });
}

function signalName(signal: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
}
