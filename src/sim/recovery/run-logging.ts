/**
 * Runs one world under message logging to its end and judges it. Which world, which program, which correlated sets and what
 * goes wrong is its setup, drawn from a seed (run-logging-seed.ts) or written down by a test. The dead come back, so in the end
 * everything must be as if nobody had died.
 */
import type { LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import type { BoardCounts } from "../boards.ts";
import { interpret } from "../interpreter/interpreter.ts";
import { RankState, type Steps } from "../interpreter/rank-state.ts";
import { judge, type SeedOutcome } from "../judge.ts";
import { Clock, Observation } from "../observation.ts";
import { JobFiles } from "../outside/job-files.ts";
import { Output } from "../outside/output.ts";
import type { Outside } from "../outside/outside.ts";
import type { Random } from "../random.ts";
import type { Script } from "../script/script.ts";
import type { SimProcess } from "../sim-process.ts";
import { World, type WorldOptions } from "../world.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Histories } from "./histories.ts";
import { Moments } from "./moments.ts";
import type { PlannedFaultsPorts } from "./planned-faults.ts";
import { imageOf, type RankImage, restoreRank } from "./rank-image.ts";
import { Recovery } from "./recovery.ts";
import { fallsAsOne } from "./sets.ts";
import { Shelf } from "./shelf.ts";
import type { Trouble } from "./trouble.ts";

/** The set of a rank is captured when the rank is about to do that action, in whichever life. */
export interface CheckpointTime {
  readonly rank: number;
  readonly action: number;
}

export interface LoggingSetup {
  readonly world: WorldOptions;
  /** Correlated set of each rank. */
  readonly setOf: Int32Array;
  readonly script: Script;
  /** Null: nobody has images, and everybody starts again from the beginning. */
  readonly checkpoints: { readonly times: readonly CheckpointTime[]; readonly patienceNs: number } | null;
  /** How fast dispatcher and event logger are. */
  readonly services: {
    readonly random: Random;
    readonly delayNsMax: number;
    readonly detectionNs: number;
    readonly restartNs: number;
  };
  /** A set has fallen: can its newest image not be read? */
  readonly isCorrupt: (set: number) => boolean;
  /** Memory of each rank's payload log; null: it has no bound. */
  readonly logBytesMax: number | null;
  readonly trouble: (world: World, ports: PlannedFaultsPorts) => Trouble;
  readonly listener?: ((line: string) => void) | undefined;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: ((options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol) | undefined;
}

export interface LoggingOutcome extends SeedOutcome {
  readonly restarts: number;
  /** Of a fault plan: how often each entry was carried out. */
  readonly fired: readonly number[];
  /** In all payload logs at the end. */
  readonly loggedBytes: number;
  /** Payloads that left memory, and that came back. */
  readonly spilled: number;
  readonly fetched: number;
  /** How often rare things happened. */
  readonly rare: Recovery["rare"];
  readonly checkpoints: Checkpoints["counts"];
  readonly output: Output["counts"];
  readonly files: JobFiles["counts"];
  readonly moments: Moments;
  readonly boards: BoardCounts;
  /** By rank. */
  readonly restartsOf: readonly number[];
}

/** More than worlds in which nobody dies: everything may be done several times. */
const eventsMax = 20_000_000;

/** A set is not asked for a checkpoint more often because logs are full. */
const askedNsMin = 20_000;

export const runLogging = (setup: LoggingSetup): LoggingOutcome => new LoggingRun(setup).judged();

class LoggingRun {
  readonly #setup: LoggingSetup;
  readonly #world: World;
  readonly #recovery: Recovery;
  readonly #checkpoints: Checkpoints;
  readonly #trouble: Trouble;
  readonly #histories: Histories;
  readonly #clock = new Clock();
  readonly #states: RankState[] = [];
  readonly #shelves: readonly Shelf[];
  readonly #outside: Outside;
  readonly #moments = new Moments();
  /** When a full log asked each set last. */
  readonly #askedNs = new Map<number, number>();

  constructor(setup: LoggingSetup) {
    const { world: worldOptions, setOf, listener, checkpoints } = setup;
    this.#setup = setup;
    this.#shelves = Array.from(setOf, () => new Shelf());
    this.#recovery = this.#newRecovery();
    this.#world = new World({
      ...worldOptions,
      eventsMax,
      hasImages: checkpoints !== null,
      ...(worldOptions.boards === undefined
        ? {}
        : { boards: { mayUse: (node) => fallsAsOne(node, setOf, worldOptions), ...worldOptions.boards } }),
      protocol: (rank) => this.#recovery.protocol(rank),
      crashed: (rank, before) => {
        this.#shelves[rank]!.lose();
        this.#moments.note("fell", this.#states[rank]!);
        this.#recovery.crashed(rank, before);
      },
      ...(listener === undefined ? {} : { listener }),
    });
    this.#recovery.attach(this.#world);
    this.#histories = new Histories(setOf.length);
    this.#outside = {
      output: new Output(setOf.length),
      files: new JobFiles(setOf.length, () => this.#world.nowNs),
      travel: (rank, act) => this.#recovery.capturedLife(setOf[rank]!).travel(act),
    };
    this.#checkpoints = this.#newCheckpoints();
    this.#trouble = setup.trouble(this.#world, {
      notice: () => this.#recovery.notice(),
      lose: (service) => {
        if (service === "event-logger") this.#recovery.loseLogger();
        if (service === "checkpoint-server") this.#checkpoints.serverLost();
      },
    });
    this.#recovery.onRestart = (set) => this.#trouble.restarted(set);
  }

  #newRecovery(): Recovery {
    const { setOf, services, isCorrupt, newProtocol, logBytesMax } = this.#setup;
    return new Recovery({
      ...{ setOf, ...services },
      newest: (set) => this.#checkpoints.newest(set, isCorrupt(set)),
      logged: (set) => this.#checkpoints.commit(set),
      declared: (set) => this.#checkpoints.fell(set),
      prepare: (process, image) => this.#prepare(process, image),
      start: ({ rank }) => this.#start(rank),
      ...(newProtocol === undefined ? {} : { newProtocol }),
      ...(logBytesMax === null ? {} : { payloads: (rank) => this.#payloads(rank, logBytesMax) }),
    });
  }

  #newCheckpoints(): Checkpoints {
    const world = this.#world;
    const { setOf } = this.#setup;
    return new Checkpoints({
      setOf,
      sets: Array.from({ length: Math.max(...setOf) + 1 }, (_, set) => this.#recovery.membersOf(set)),
      stateOf: (rank) => this.#states[rank]!,
      imageOf: (rank) => imageOf(this.#states[rank]!, this.#histories.now(rank)),
      restFinished: (rank, rest) => world.start(rank, rest),
      trim: (set, oldest) => this.#recovery.trim(set, oldest),
      happens: (event) => {
        world.trace.note(world.nowNs, event.step, [event.set]);
        if (event.step === "captured") {
          for (const rank of this.#recovery.membersOf(event.set)) this.#moments.note("captured", this.#states[rank]!);
        }
        this.#trouble.checkpoint(event);
      },
    });
  }

  #payloads(rank: number, bytesMax: number) {
    return {
      bytesMax,
      spill: this.#shelves[rank]!,
      full: (sets: readonly number[]) => {
        this.#recovery.rare.logFull++;
        this.#trouble.logFull(this.#setup.setOf[rank]!);
        for (const set of sets) this.#askSometimes(set);
      },
    };
  }

  /** A new process has its state, that of an image or that of the beginning. */
  #prepare(process: SimProcess, image: RankImage | null): void {
    const { rank, engine } = process;
    const { script, checkpoints } = this.#setup;
    const witness = {
      observe: (...numbers: readonly number[]) => this.#histories.observe(rank, ...numbers),
      history: () => this.#histories.now(rank),
      passes: (action: number) => this.#passes(rank, action),
    };
    const state = new RankState(script, process, {
      ...{ witness, outside: this.#outside, hasImages: checkpoints !== null },
      observation: new Observation(this.#clock),
    });
    this.#states[rank] = state;
    if (image !== null) restoreRank(state, image);
    this.#histories.begin(rank, image?.history);
    engine.tracer = this.#histories.tracer(rank);
    this.#trouble.lives(rank);
  }

  #start(rank: number): void {
    this.#world.start(rank, () => this.#program(rank));
  }

  *#program(rank: number): Steps {
    const hasImages = this.#setup.checkpoints !== null;
    const rests = hasImages ? this.#checkpoints.rests(this.#setup.setOf[rank]!, rank) : null;
    yield* interpret(this.#states[rank]!, rests);
    this.#trouble.finished(rank);
  }

  #passes(rank: number, action: number): boolean {
    const times = this.#setup.checkpoints?.times ?? [];
    if (times.some((time) => time.rank === rank && time.action === action)) this.#ask(this.#setup.setOf[rank]!);
    return this.#trouble.passes(rank, action);
  }

  /** As in real jobs: a log that is full now is full again soon. */
  #askSometimes(set: number): void {
    const { nowNs } = this.#world;
    if (nowNs - (this.#askedNs.get(set) ?? Number.NEGATIVE_INFINITY) < askedNsMin) return;
    this.#askedNs.set(set, nowNs);
    this.#ask(set);
  }

  /** A checkpoint of that set is wanted. */
  #ask(set: number): void {
    const { checkpoints } = this.#setup;
    if (checkpoints !== null) this.#checkpoints.ask(this.#recovery.capturedLife(set), checkpoints.patienceNs);
  }

  judged(): LoggingOutcome {
    const world = this.#world;
    for (const process of world.processes) {
      this.#prepare(process, null);
      this.#start(process.rank);
    }
    this.#trouble.begin();
    const outcome = judge(world, {
      ...{ script: this.#setup.script, histories: this.#histories, firstPosted: this.#clock.firstPosted },
      ...this.#outside,
      givenUp: () => this.#checkpoints.counts.givenUp,
      observation: () => {
        const parts = this.#states.map(({ observation }) => observation);
        return Observation.of(parts, this.#clock);
      },
    });
    const { happened: deaths, fired } = this.#trouble;
    const { restarts, rare, restartsOf } = this.#recovery;
    return {
      ...{ ...outcome, deaths, fired, restarts, rare, restartsOf, checkpoints: this.#checkpoints.counts },
      output: this.#outside.output.counts,
      files: this.#outside.files.counts,
      moments: this.#moments,
      boards: world.boardCounts,
      loggedBytes: sum(world.processes.map(({ core }) => (core.protocol as LoggingProtocol).loggedBytes)),
      spilled: sum(this.#shelves.map(({ puts }) => puts)),
      fetched: sum(this.#shelves.map(({ fetched }) => fetched)),
    };
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
