/**
 * Runs one world in which the dead come back to its end, and judges it: everything must be as if nobody had died. Which world, which
 * program, which sets fall together and what goes wrong is its setup, drawn from a seed or written down by a test; the parts of the
 * protocol are its user's.
 */
import type { JobOutcome } from "../../core/service/outcome.ts";
import type { BoardCounts } from "../boards.ts";
import { interpret, type Rests } from "../interpreter/interpreter.ts";
import type { NewFiles } from "../interpreter/script-files.ts";
import { ScriptState } from "../interpreter/script-state.ts";
import { judgeWorld, type SeedOutcome, type Violation } from "../judge.ts";
import type { SimMemory } from "../memory.ts";
import { LogicalClock, Observation } from "../observation.ts";
import { JobInput, type NewInputPieces } from "../outside/job-input.ts";
import { atOnce, type Outside } from "../outside/outside.ts";
import { PrintedOutput } from "../outside/printed-output.ts";
import { RankFiles } from "../outside/rank-files.ts";
import { SharedFiles } from "../outside/shared-files.ts";
import type { Random } from "../random.ts";
import type { Script } from "../script/script.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import type { World, WorldOptions } from "../world.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { Histories } from "./histories.ts";
import { Moments } from "./moments.ts";
import type { PartsPorts, ProtocolParts } from "./protocol-parts.ts";
import { rankImageOf, restoreRank, type SimRankImage } from "./rank-image.ts";
import { RecoveringWorld, type Services } from "./recovering-world.ts";
import type { RecoveryHost } from "./recovery-host.ts";
import type { DrawnMove, SimMoves } from "./sim-moves.ts";
import type { Trouble, TroublePorts } from "./trouble.ts";

/** A rank is about to do that action, in whichever life. */
export interface ActionTime {
  readonly rank: number;
  readonly action: number;
}

/** How a protocol's parts stand in a world. */
export interface JudgedParts extends ProtocolParts {
  /** How often rare things happened to them. */
  readonly rare: Readonly<Record<string, number>>;
  /** May the job have ended like this, though not all programs are over? */
  isLegitimateEnd(outcome: JobOutcome | undefined): boolean;
}

export interface RecoveringSetup {
  readonly world: WorldOptions;
  /** Set of each rank: those of a set fall together. */
  readonly setOf: readonly number[];
  readonly script: Script;
  /** When the set of a rank is captured. Null: nobody has images, and everybody starts again from the beginning. */
  readonly checkpoints: { readonly times: readonly ActionTime[]; readonly patienceNs: number } | null;
  /** Ranks that are moved to other nodes; none unless given. */
  readonly moves?: readonly DrawnMove[] | undefined;
  readonly services: Services;
  /** A set has fallen: can its newest image not be read? */
  readonly isCorrupt: (set: number) => boolean;
  /** How standard input comes. */
  readonly input: { readonly random: Random; readonly delayNsMax: number };
  /** When the program of a rank ends its own node. */
  readonly crashesAt?: ActionTime | undefined;
  readonly trouble: (world: World, ports: TroublePorts) => Trouble;
  readonly listener?: ((line: string) => void) | undefined;
  /** Another replay of files, other decisions about standard input than the real ones, for tests that want to see them fail. */
  readonly newFiles?: NewFiles | undefined;
  readonly newInputPieces?: NewInputPieces | undefined;
}

export interface RecoveringOutcome<P extends JudgedParts> extends SeedOutcome {
  /** How the dispatcher has ended the job; undefined: it has not. */
  readonly job: JobOutcome | undefined;
  readonly restarts: number;
  /** Of a fault plan: how often each entry was carried out. */
  readonly fired: readonly number[];
  /** How often rare things happened. */
  readonly rare: RecoveryHost["rare"] & P["rare"];
  /** Nodes that were taken for dead and left alive, and how many of them went on before the end. */
  readonly suspects: { readonly all: number; readonly awake: number };
  /** How often the dispatcher has crashed; and in the middle of a record. */
  readonly dispatcherCrashes: RecoveringWorld<SimMemory, SimRankImage, P>["dispatcherCrashes"];
  /** How often every process of the job was killed at once. */
  readonly switchedOff: number;
  readonly checkpoints: Checkpoints<SimRankImage>["counts"];
  readonly output: PrintedOutput["counts"];
  readonly files: RankFiles["counts"];
  readonly sharedFiles: SharedFiles["counts"];
  readonly input: JobInput["counts"];
  readonly moves: SimMoves["counts"];
  readonly moments: Moments;
  readonly boards: BoardCounts;
  /** By rank. */
  readonly restartsOf: readonly number[];
}

/** More than worlds in which nobody dies: everything may be done several times. */
const eventsMax = 20_000_000;

export class RecoveringRun<P extends JudgedParts> {
  readonly #setup: RecoveringSetup;
  readonly #there: RecoveringWorld<SimMemory, SimRankImage, P>;
  readonly #histories: Histories;
  readonly #clock = new LogicalClock();
  readonly #states: ScriptState[] = [];
  readonly #outside: Outside;
  readonly #nowhere: Outside;
  readonly #moments = new Moments();

  constructor(setup: RecoveringSetup, newParts: (ports: PartsPorts) => P) {
    const { world, setOf, listener, checkpoints, services, isCorrupt, trouble } = setup;
    this.#setup = setup;
    this.#histories = new Histories(setOf.length);
    this.#there = new RecoveringWorld(
      {
        setOf,
        moves: setup.moves,
        services,
        isCorrupt,
        newTrouble: trouble,
        world: {
          ...world,
          eventsMax,
          hasImages: checkpoints !== null,
          ...(listener === undefined ? {} : { listener }),
        },
        checkpointPatienceNs: checkpoints?.patienceNs ?? null,
        newParts,
      },
      {
        prepare: (process, image) => this.#prepare(process, image),
        start: (rank) => this.#start(rank),
        imageOf: (rank) => rankImageOf(this.#states[rank]!, this.#histories.now(rank)),
        fell: (rank) => this.#moments.note("fell", this.#states[rank]!),
        captured: (rank, checkpoint) => this.#captured(rank, checkpoint),
        oldest: (set, checkpoint) => {
          if (set === setOf[0]) this.#outside.input.oldestIs(checkpoint);
        },
      },
    );
    const { random, delayNsMax } = setup.input;
    const ranks = setOf.length;
    this.#nowhere = {
      ...atOnce(new PrintedOutput(ranks), new RankFiles(ranks, () => 0)),
      travel: () => {},
    };
    const files = new RankFiles(ranks, () => this.#world.nowNs);
    this.#outside = {
      output: new PrintedOutput(ranks),
      files,
      sharedFiles: new SharedFiles(files.system),
      input: new JobInput({
        random,
        keeps: true,
        later: (act) => {
          this.#world.plan(this.#world.nowNs + random.below(delayNsMax), () => {
            act();
            this.#world.wake(0);
          });
        },
        newPieces: setup.newInputPieces,
      }),
      travel: (rank, act) => this.#there.print(rank, act),
    };
  }

  #captured(rank: number, checkpoint: number): void {
    const state = this.#states[rank]!;
    this.#moments.note("captured", state);
    if (rank !== 0) return;
    const { offset } = state.given;
    this.#outside.travel(rank, () => this.#outside.input.captured(checkpoint, offset));
  }

  get parts(): P {
    return this.#there.parts;
  }

  get processes(): World["processes"] {
    return this.#world.processes;
  }

  get #world(): World {
    return this.#there.world;
  }

  /** A new process has its state, that of an image or that of the beginning. */
  #prepare(process: SimProcess, image: SimRankImage | null): void {
    const { rank, engine } = process;
    const { script, checkpoints } = this.#setup;
    this.#histories.begin(rank, image?.history);
    const witness = {
      ...this.#histories.witness(rank),
      passes: (action: number) => !process.isSuspect && this.#passes(rank, action),
    };
    const state = new ScriptState(script, process, {
      witness,
      outside: this.#outsideOf(process),
      hasImages: checkpoints !== null,
      newFiles: this.#setup.newFiles,
      observation: new Observation(this.#clock),
    });
    this.#states[rank] = state;
    if (image !== null) restoreRank(state, image);
    engine.tracer = this.#histories.tracer(rank, () => process.isSuspect);
  }

  /** What a suspect prints goes nowhere. */
  #outsideOf(process: SimProcess): Outside {
    const [here, nowhere] = [this.#outside, this.#nowhere];
    return {
      get output() {
        return process.isSuspect ? nowhere.output : here.output;
      },
      files: here.files,
      sharedFiles: here.sharedFiles,
      get input() {
        return process.isSuspect ? nowhere.input : here.input;
      },
      travel: (rank, act) => (process.isSuspect ? nowhere : here).travel(rank, act),
    };
  }

  /** Its first step may come when it is a suspect, and another life of the rank has a state: it has its own. */
  #start(rank: number): void {
    const state = this.#states[rank]!;
    const incarnation = this.#there.recovery.incarnationOf(rank);
    const rests = this.#there.restsOf(rank);
    this.#world.start(rank, () => this.#program(state, rests, incarnation));
  }

  *#program(state: ScriptState, rests: Rests | null, incarnation: number): Steps {
    const { rank, process } = state;
    yield* interpret(state, rests);
    if (!process.isSuspect) this.#there.finished(rank, incarnation);
  }

  #passes(rank: number, action: number): boolean {
    const isTime = (time?: ActionTime): boolean => time?.rank === rank && time.action === action;
    if (this.#setup.checkpoints?.times.some(isTime) === true) this.#there.ask(this.#setup.setOf[rank]!);
    const isCrash = isTime(this.#setup.crashesAt);
    if (isCrash) this.#there.crashNodeOf(rank);
    return this.#there.passes(rank, action) || isCrash;
  }

  judged(): RecoveringOutcome<P> {
    const { recovery, checkpoints, parts, trouble, world, moves } = this.#there;
    this.#there.begin();
    const outcome = judgeWorld(world, {
      script: this.#setup.script,
      histories: this.#histories,
      firstPosted: this.#clock.firstPosted,
      ...this.#outside,
      givenUp: () => checkpoints.counts.givenUp,
      observation: () => {
        const observations = this.#states.map(({ observation }) => observation);
        return Observation.of(observations, this.#clock);
      },
    });
    const { happened: deaths, fired } = trouble;
    const { restarts, restartsOf } = recovery;
    const rare = { ...recovery.rare, ...parts.rare };
    const violations = this.#isLegitimateEnd ? [] : [...outcome.violations, ...this.#endProblems(outcome)];
    return {
      ...outcome,
      violations,
      job: this.#there.outcome,
      deaths,
      fired,
      restarts,
      rare,
      restartsOf,
      suspects: this.#there.suspects,
      dispatcherCrashes: this.#there.dispatcherCrashes,
      switchedOff: this.#there.switchedOff,
      checkpoints: checkpoints.counts,
      output: this.#outside.output.counts,
      files: this.#outside.files.counts,
      sharedFiles: this.#outside.sharedFiles.counts,
      input: this.#outside.input.counts,
      moves: moves.counts,
      moments: this.#moments,
      boards: world.boardCounts,
    };
  }

  get #isLegitimateEnd(): boolean {
    return this.#there.parts.isLegitimateEnd(this.#there.outcome);
  }

  /** What is wrong with the way in which the dispatcher has ended the job. */
  #endProblems({ violations }: SeedOutcome): Violation[] {
    const what = this.#there.problemOfEnd;
    const isEnded = this.#there.outcome !== undefined;
    // Of a world that is stuck others have told why.
    if (what === "" || (violations.length > 0 && !isEnded)) return [];
    return [{ invariant: "the job ends when all programs are over", what }];
  }
}
