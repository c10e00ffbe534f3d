/**
 * Runs one world under message logging to its end and judges it. Which world, which program, which correlated sets and what
 * goes wrong is its setup, drawn from a seed (run-logging-seed.ts) or written down by a test. The dead come back, so in the end
 * everything must be as if nobody had died.
 */
import type { FaultEvent } from "../../core/fault/moment.ts";
import type { LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { membersOf } from "../../core/service/correlated-sets.ts";
import type { Outcome } from "../../core/service/outcome.ts";
import { interpret } from "../interpreter/interpreter.ts";
import { RankState, type Steps } from "../interpreter/rank-state.ts";
import { judge, type SeedOutcome, type Violation } from "../judge.ts";
import { SimLogging } from "../logging/sim-logging.ts";
import { Clock, Observation } from "../observation.ts";
import type { Random } from "../random.ts";
import type { Script } from "../script/script.ts";
import type { SimProcess } from "../sim-process.ts";
import { World, type WorldOptions } from "../world.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Dispatching } from "./dispatching.ts";
import { Histories } from "./histories.ts";
import { type RankImage, restoreRank } from "./rank-image.ts";
import { RecoveryHost } from "./recovery.ts";
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
  /** An event logger that is lost to those who speak to it has what it has; otherwise it is lost with all of it. */
  readonly loggerKeeps?: boolean | undefined;
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
  readonly rare: RecoveryHost["rare"] & SimLogging["rare"];
  /** How often the dispatcher has crashed; and in the middle of a record. */
  readonly dispatcherCrashes: Dispatching["crashes"];
  readonly checkpoints: Checkpoints["counts"];
  /** By rank. */
  readonly restartsOf: readonly number[];
}

/** More than worlds in which nobody dies: everything may be done several times. */
const eventsMax = 20_000_000;

/** A set is not asked for a checkpoint more often because logs are full. */
const forLogsMsMin = 0.02;
const nsPerMs = 1e6;

export const runLogging = (setup: LoggingSetup): LoggingOutcome => new LoggingRun(setup).judged();

class LoggingRun {
  readonly #setup: LoggingSetup;
  readonly #members: readonly (readonly number[])[];
  readonly #logging: SimLogging;
  readonly #world: World;
  readonly #recovery: RecoveryHost;
  readonly #checkpoints: Checkpoints;
  readonly #dispatching: Dispatching;
  readonly #trouble: Trouble;
  readonly #histories: Histories;
  readonly #clock = new Clock();
  readonly #states: RankState[] = [];
  /** Numbers of the oldest checkpoint of each set that may be restored. */
  readonly #oldest = new Map<number, number>();

  constructor(setup: LoggingSetup) {
    const { world: worldOptions, setOf, listener, checkpoints } = setup;
    this.#setup = setup;
    this.#members = membersOf([...setOf]);
    this.#logging = this.#newLogging();
    this.#world = new World({
      ...worldOptions,
      eventsMax,
      hasImages: checkpoints !== null,
      protocol: (rank) => this.#logging.newProtocol(rank),
      crashed: (rank, before) => this.#recovery.crashed(rank, before),
      ...(listener === undefined ? {} : { listener }),
    });
    this.#histories = new Histories(setOf.length);
    this.#checkpoints = this.#newCheckpoints();
    this.#dispatching = this.#newDispatching();
    this.#recovery = this.#newRecovery();
    this.#trouble = setup.trouble(this.#world, this.#troublePorts());
  }

  #newLogging(): SimLogging {
    const { setOf, services, logBytesMax, newProtocol } = this.#setup;
    const { random, delayNsMax, restartNs } = services;
    return new SimLogging(
      { setOf, random, delayNsMax, restartNs, logBytesMax, newProtocol },
      {
        nowNs: () => this.#world.nowNs,
        plan: (timeNs, act) => this.#world.plan(timeNs, act),
        wake: (rank) => this.#world.wake(rank),
        areDead: (ranks) => ranks.every((rank) => this.#world.processes[rank]!.state === "dead"),
        feed: (tell) => this.#recovery.feed(tell),
        say: (rank, words) => {
          this.#dispatching.say(rank, () => this.#recovery.feed(() => this.#logging.job.rankSaid(rank, words)));
        },
        job: {
          prepared: (set, incarnation, outcome) => {
            this.#recovery.feed(() => this.#recovery.core.prepared(set, incarnation, outcome));
          },
          mayCommit: (set) => this.#recovery.feed((nowMs) => this.#recovery.core.mayCommit(set, nowMs)),
          wantCheckpoints: (rank, sets) => {
            const wanted = this.#setup.checkpoints === null ? [] : sets;
            this.#recovery.feed((nowMs) => this.#recovery.core.wantCheckpoints(rank, wanted, nowMs));
          },
          toNode: () => {},
          note: () => {},
        },
      },
    );
  }

  #newCheckpoints(): Checkpoints {
    const world = this.#world;
    const { setOf, services } = this.#setup;
    const { random, delayNsMax, restartNs } = services;
    return new Checkpoints({
      ...{ members: this.#members, setOf },
      stateOf: (rank) => this.#states[rank]!,
      historyOf: (rank) => this.#histories.now(rank),
      restFinished: (rank, rest) => world.start(rank, rest),
      wake: (rank) => world.wake(rank),
      later: (act) => world.plan(world.nowNs + random.below(delayNsMax), act),
      whenRestarted: (act) => world.plan(world.nowNs + random.below(restartNs + 1), act),
      isOpen: (set, number) => this.#recovery.core.isOpen(set, number),
      captured: (rank, capture) => {
        this.#tellCore(rank, (nowMs) => this.#recovery.core.captured(rank, capture, nowMs));
      },
      imageStored: (rank, image) => {
        this.#tellCore(rank, (nowMs) => this.#recovery.core.imageStored(rank, image, nowMs));
      },
      verified: (set, number, problem) => {
        this.#recovery.feed((nowMs) => this.#recovery.core.verified(set, number, problem, nowMs));
      },
      happens: (event) => {
        world.trace.note(world.nowNs, event.step, [event.set]);
        this.#trouble.checkpoint(event);
      },
    });
  }

  #newDispatching(): Dispatching {
    const { setOf, services } = this.#setup;
    const { random, detectionNs, delayNsMax, restartNs } = services;
    return new Dispatching(
      { world: this.#world, setOf, random: random.fork(), detectionNs, delayNsMax, restartNs },
      {
        incarnationOf: (rank) => this.#recovery.incarnationOf(rank),
        tell: (death, isMeant) => this.#recovery.tell(death, isMeant),
        returned: (lives, isMeant) => this.#recovery.returned(lives, isMeant),
        deathsHeard: (rank) => this.#recovery.deathsHeard(rank),
        crashed: () => this.#recovery.dispatcherCrashed(),
        takeOver: (state) => this.#recovery.takeOver(state),
        goOn: (node) => {
          const its = setOf.filter((_, rank) => this.#world.nodeOf[rank] === node);
          for (const set of new Set(its)) this.#checkpoints.goOn(set);
        },
        fallen: (ranks) => this.#recovery.fallen(ranks),
        decided: () => this.#checkpoints.end(),
      },
    );
  }

  #newRecovery(): RecoveryHost {
    const { setOf, services, checkpoints, isCorrupt } = this.#setup;
    const { random, delayNsMax, restartNs } = services;
    const checkpointPatienceMs = (checkpoints?.patienceNs ?? 0) / nsPerMs;
    const [parts, world, dispatching] = [this.#logging, this.#world, this.#dispatching];
    return new RecoveryHost(
      { world, setOf, random, delayNsMax, restartNs, parts, checkpointPatienceMs, forLogsMsMin },
      {
        record: (record) => dispatching.record(record),
        isDown: () => dispatching.isDown,
        feed: (act) => dispatching.feed(act),
        deathsDeclared: () => dispatching.deathsDeclared,
        isLinked: (rank) => dispatching.isLinked(world.nodeOf[rank]!),
        stop: (set, number) => this.#checkpoints.stop(set, number),
        goOn: (set) => this.#checkpoints.goOn(set),
        verify: (set, number) => this.#checkpoints.verify(set, number),
        drop: (set, number) => this.#checkpoints.drop(set, number),
        oldest: (set, { number }) => this.#oldest.set(set, number),
        committed: ({ set }, callsPassed) => dispatching.committed(set, callsPassed),
        happened: (event) => this.#happened(event),
        hasPlace: (rank) => dispatching.isNodeAlive(world.nodeOf[rank]!),
        isOver: () => dispatching.outcome !== undefined,
        say: (rank, hear) => dispatching.say(rank, hear),
        begun: (ranks) => dispatching.begun(ranks),
        caughtUp: (rank) => dispatching.caughtUp(rank),
        fell: (rank) => dispatching.killNode(world.nodeOf[rank]!),
        hopeless: (problem) => dispatching.unusable(problem),
        falls: (set) => this.#checkpoints.fell(set),
        isUnreadable: (set, number) => {
          // An older one is left that can be read.
          const isIt = number > (this.#oldest.get(set) ?? 0) && isCorrupt(set);
          if (isIt) this.#checkpoints.counts.corrupt++;
          return isIt;
        },
        prepare: (process, set, number) => {
          const name = { set, number, rank: process.rank };
          if (number > 0 && process.rank === this.#members[set]![0]) this.#checkpoints.counts.restored++;
          this.#prepare(process, number === 0 ? null : this.#checkpoints.imageOf(name));
        },
        start: ({ rank }) => this.#start(rank),
      },
    );
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
      lose: (service, keepsContents) => {
        if (service === "event-logger") this.#logging.lose(keepsContents ?? this.#setup.loggerKeeps === true);
        if (service === "checkpoint-server") this.#checkpoints.serverLost();
        if (service === "dispatcher") dispatching.crash();
      },
    };
  }

  /** From the node of a rank. */
  #tellCore(rank: number, tell: (nowMs: number) => void): void {
    this.#dispatching.say(rank, () => this.#recovery.feed(tell));
  }

  /** For those who make things go wrong. */
  #happened(event: FaultEvent): void {
    switch (event.kind) {
      case "checkpoint-asked":
      case "checkpoint-committed":
      case "image-stored": {
        const steps = {
          "checkpoint-asked": "asked",
          "checkpoint-committed": "committed",
          "image-stored": "image",
        } as const;
        const wanted = this.#members[event.set]!.length;
        this.#checkpoints.reached({ stored: 0, wanted, ...event, step: steps[event.kind] });
        return;
      }
      case "recovery":
        this.#trouble.restarted(event.set);
        return;
      case "log-full":
        this.#trouble.logFull(event.set);
        return;
      default:
        // What ranks do is told by them.
        return;
    }
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
    this.#recovery.caughtUp(rank, incarnation);
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

  /** A checkpoint of that set is wanted. A program runs at this moment, and cannot be stopped in the middle of a step. */
  #ask(set: number): void {
    const world = this.#world;
    world.plan(world.nowNs, () => this.#recovery.feed((nowMs) => this.#recovery.core.take(set, nowMs)));
  }

  judged(): LoggingOutcome {
    const world = this.#world;
    this.#logging.connect();
    this.#recovery.feed((nowMs) => this.#recovery.core.allBegan(nowMs));
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
    const { restarts, restartsOf } = this.#recovery;
    const rare = { ...this.#recovery.rare, ...this.#logging.rare };
    const violations = this.#isLegitimateEnd ? [] : [...outcome.violations, ...this.#endProblems(outcome)];
    return {
      ...{ ...outcome, violations, job: this.#dispatching.outcome, deaths, fired, restarts, rare, restartsOf },
      dispatcherCrashes: this.#dispatching.crashes,
      checkpoints: this.#checkpoints.counts,
      loggedBytes: sum(world.processes.map(({ core }) => (core.protocol as LoggingProtocol).loggedBytes)),
      ...{ spilled: this.#logging.spilled, fetched: this.#logging.fetched },
    };
  }

  /** An event logger was lost, and a set has fallen before its node had told the successor what it keeps: nobody has it any more. */
  get #isLegitimateEnd(): boolean {
    const { rare, lostInVain } = this.#logging;
    const reason = this.#dispatching.outcome?.reason;
    const isIt =
      reason?.kind === "unusable" && reason.message.endsWith("the event logger was lost with what they had chosen");
    return isIt && rare.loggerCrashed > 0 && rare.choicesLost > 0 && lostInVain.length === 0;
  }

  /** What is wrong with the way in which the dispatcher has ended the job. */
  #endProblems({ violations }: SeedOutcome): Violation[] {
    const { outcome, isEnded } = this.#dispatching;
    if (!this.#dispatching.isWritten(this.#recovery.core.state)) {
      return [{ invariant: "the journal says what dispatcher and recovery know", what: "it says something else" }];
    }
    const invariant = "the job ends when all programs are over";
    if (outcome !== undefined && outcome.reason.kind !== "finished") {
      return [{ invariant, what: `the dispatcher has ended it: ${JSON.stringify(outcome.reason)}` }];
    }
    // Of a world that is stuck others have told why.
    if (violations.length > 0 || isEnded) return [];
    return [{ invariant, what: outcome === undefined ? "it is not over" : "not every node has ended" }];
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
