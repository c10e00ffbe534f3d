/**
 * Runs one world under message logging to its end and judges it. Which world, which program, which correlated sets and what
 * goes wrong is its setup, drawn from a seed (run-logging-seed.ts) or written down by a test. The dead come back, so in the end
 * everything must be as if nobody had died.
 */
import type { LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import type { Outcome } from "../../core/service/outcome.ts";
import { interpret } from "../interpreter/interpreter.ts";
import { RankState, type Steps } from "../interpreter/rank-state.ts";
import { judge, type SeedOutcome, type Violation } from "../judge.ts";
import { Shelf } from "../logging/shelf.ts";
import { Clock, Observation } from "../observation.ts";
import type { Random } from "../random.ts";
import type { Script } from "../script/script.ts";
import type { SimProcess } from "../sim-process.ts";
import { World, type WorldOptions } from "../world.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Dispatching } from "./dispatching.ts";
import { Histories } from "./histories.ts";
import { type RankImage, restoreRank } from "./rank-image.ts";
import { Recovery } from "./recovery.ts";
import type { Trouble, TroublePorts } from "./trouble.ts";

/** A rank is about to do that action, in whichever life. */
export interface ActionTime {
  readonly rank: number;
  readonly action: number;
}

export interface LoggingSetup {
  readonly world: WorldOptions;
  /** Correlated set of each rank. */
  readonly setOf: Int32Array;
  readonly script: Script;
  /** When the set of a rank is captured. Null: nobody has images, and everybody starts again from the beginning. */
  readonly checkpoints: { readonly times: readonly ActionTime[]; readonly patienceNs: number } | null;
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
  /** When the program of a rank ends its own node. */
  readonly crashesAt?: ActionTime | undefined;
  readonly trouble: (world: World, ports: TroublePorts) => Trouble;
  readonly listener?: ((line: string) => void) | undefined;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: ((options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol) | undefined;
}

export interface LoggingOutcome extends SeedOutcome {
  /** How the dispatcher has ended the job; undefined: it has not. */
  readonly job: Outcome | undefined;
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
  /** How often the dispatcher has crashed; and in the middle of a record. */
  readonly dispatcherCrashes: Dispatching["crashes"];
  readonly checkpoints: Checkpoints["counts"];
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
  readonly #dispatching: Dispatching;
  readonly #trouble: Trouble;
  readonly #histories: Histories;
  readonly #clock = new Clock();
  readonly #states: RankState[] = [];
  readonly #shelves: readonly Shelf[];
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
      protocol: (rank) => this.#recovery.protocol(rank),
      crashed: (rank, before) => {
        this.#shelves[rank]!.lose();
        this.#recovery.crashed(rank, before);
      },
      ...(listener === undefined ? {} : { listener }),
    });
    this.#recovery.attach(this.#world);
    this.#histories = new Histories(setOf.length);
    this.#checkpoints = this.#newCheckpoints();
    const { random, detectionNs, delayNsMax, restartNs } = setup.services;
    this.#dispatching = new Dispatching(
      { world: this.#world, setOf, random: random.fork(), detectionNs, delayNsMax, restartNs },
      {
        incarnationOf: (rank) => this.#recovery.incarnationOf(rank),
        tell: (death, isMeant) => this.#recovery.tell(death, isMeant),
        returned: (lives, isMeant) => this.#recovery.returned(lives, isMeant),
        deathsHeard: (rank) => this.#recovery.deathsHeard(rank),
        crashed: () => {
          this.#recovery.dispatcherCrashed();
          // Its books say what counts; what was being taken is given up.
          this.#checkpoints.serverLost();
        },
        fallen: (ranks, place) => this.#recovery.fallen(ranks, place),
      },
    );
    this.#trouble = setup.trouble(this.#world, this.#troublePorts());
    this.#recovery.onRestart = (set) => this.#trouble.restarted(set);
  }

  #troublePorts(): TroublePorts {
    const dispatching = this.#dispatching;
    const { nodeOf } = this.#world;
    return {
      isOver: () => dispatching.outcome !== undefined,
      isRankAlive: (rank) => dispatching.isRankAlive(rank),
      isNodeAlive: (node) => dispatching.isNodeAlive(node),
      killNode: (node) => {
        dispatching.excuse(node);
        dispatching.killNode(node);
      },
      killRanks: (ranks) => {
        for (const rank of ranks) dispatching.excuse(nodeOf[rank]!);
        dispatching.killRanks(ranks);
      },
      stopNode: (node) => dispatching.stopNode(node),
      continueNode: (node) => dispatching.continueNode(node),
      notice: () => dispatching.notice(),
      lose: (service) => {
        if (service === "event-logger") this.#recovery.loseLogger();
        if (service === "checkpoint-server") this.#checkpoints.serverLost();
        if (service === "dispatcher") dispatching.crash();
      },
    };
  }

  #newRecovery(): Recovery {
    const { setOf, services, isCorrupt, newProtocol, logBytesMax } = this.#setup;
    return new Recovery({
      ...{ setOf, ...services },
      newest: (set) => this.#checkpoints.newest(set, isCorrupt(set)),
      logged: (set) => this.#checkpoints.commit(set),
      declared: (set) => this.#checkpoints.fell(set),
      begun: (ranks) => this.#dispatching.begun(ranks),
      deathsDeclared: () => this.#dispatching.deathsDeclared,
      isLinked: (rank) => this.#dispatching.isLinked(this.#world.nodeOf[rank]!),
      caughtUp: (rank) => this.#dispatching.caughtUp(rank),
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
      historyOf: (rank) => this.#histories.now(rank),
      restFinished: (rank, rest) => world.start(rank, rest),
      trim: (set, oldest) => this.#recovery.trim(set, oldest),
      happens: (event) => {
        world.trace.note(world.nowNs, event.step, [event.set]);
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
      passes: (action: number) => this.#passes(rank, action),
    };
    const state = new RankState(script, process, new Observation(this.#clock), witness, checkpoints !== null);
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
    const incarnation = this.#recovery.incarnationOf(rank);
    yield* interpret(this.#states[rank]!, rests);
    this.#trouble.finished(rank);
    this.#dispatching.rankDone(rank, incarnation);
  }

  #passes(rank: number, action: number): boolean {
    const world = this.#world;
    const isTime = (time?: ActionTime): boolean => time?.rank === rank && time.action === action;
    if (this.#setup.checkpoints?.times.some(isTime) === true) this.#ask(this.#setup.setOf[rank]!);
    this.#dispatching.passed(rank, action);
    const isCrash = isTime(this.#setup.crashesAt);
    if (isCrash) world.plan(world.nowNs, () => this.#dispatching.killNode(world.nodeOf[rank]!));
    return this.#trouble.passes(rank, action) || isCrash;
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
    // Whoever has no dispatcher has nobody to ask for one.
    if (checkpoints !== null && !this.#dispatching.isDown)
      this.#checkpoints.ask(this.#recovery.capturedLife(set), checkpoints.patienceNs);
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
      givenUp: () => this.#checkpoints.counts.givenUp,
      observation: () => {
        const parts = this.#states.map(({ observation }) => observation);
        return Observation.of(parts, this.#clock);
      },
    });
    const { happened: deaths, fired } = this.#trouble;
    const { restarts, rare, restartsOf } = this.#recovery;
    const violations = [...outcome.violations, ...this.#endProblems(outcome)];
    return {
      ...{
        ...outcome,
        violations,
        job: this.#dispatching.outcome,
        deaths,
        fired,
        restarts,
        rare,
        restartsOf,
        dispatcherCrashes: this.#dispatching.crashes,
        checkpoints: this.#checkpoints.counts,
      },
      loggedBytes: sum(world.processes.map(({ core }) => (core.protocol as LoggingProtocol).loggedBytes)),
      spilled: sum(this.#shelves.map(({ puts }) => puts)),
      fetched: sum(this.#shelves.map(({ fetched }) => fetched)),
    };
  }

  /** What is wrong with the way in which the dispatcher has ended the job. */
  #endProblems({ violations }: SeedOutcome): Violation[] {
    const { outcome, isEnded, isWritten } = this.#dispatching;
    const invariant = "the job ends when all programs are over";
    if (!isWritten)
      return [{ invariant: "the journal says what the dispatcher knows", what: "it says something else" }];
    if (outcome !== undefined && outcome.reason.kind !== "finished") {
      return [{ invariant, what: `the dispatcher has ended it: ${JSON.stringify(outcome.reason)}` }];
    }
    // Of a world that is stuck others have told why.
    if (violations.length > 0 || isEnded) return [];
    return [{ invariant, what: outcome === undefined ? "it is not over" : "not every node has ended" }];
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
