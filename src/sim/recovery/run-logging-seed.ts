/**
 * From a seed to a judged world under message logging: which world, which program, which correlated sets, who dies when. The
 * dead come back, so in the end everything must be as if nobody had died.
 */
import type { LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import { generate } from "../generator/generator.ts";
import { interpret } from "../interpreter/interpreter.ts";
import { RankState } from "../interpreter/rank-state.ts";
import { judge, type SeedOutcome } from "../judge.ts";
import { Clock, Observation } from "../observation.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import type { Script } from "../script/script.ts";
import type { SimProcess } from "../sim-process.ts";
import { World } from "../world.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Faults, planFaults } from "./faults.ts";
import { Histories } from "./histories.ts";
import { type RankImage, restoreRank } from "./rank-image.ts";
import { Recovery } from "./recovery.ts";
import { correlatedSets, type SetsBy } from "./sets.ts";

export interface LoggingSeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  readonly events?: number | undefined;
  readonly sets?: SetsBy | undefined;
  readonly listener?: (line: string) => void;
  /** Without checkpoints everybody starts again from the beginning. Otherwise the seed decides. */
  readonly hasCheckpoints?: boolean | undefined;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: (options: LoggingOptions) => LoggingProtocol;
}

export interface LoggingOutcome extends SeedOutcome {
  readonly restarts: number;
  /** In all payload logs at the end. */
  readonly loggedBytes: number;
  /** How often rare things happened. */
  readonly rare: Recovery["rare"];
  readonly checkpoints: Checkpoints["counts"];
}

/** More than worlds in which nobody dies: everything may be done several times. */
const eventsMax = 20_000_000;

export function runLoggingSeed(options: LoggingSeedOptions): LoggingOutcome {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([2, 2, 3, 4, 5, 6, 7, 8]);
  return new LoggingRun(options, random, ranks).judged();
}

/** A rank is captured when another is about to do that action. */
interface CheckpointTime {
  readonly rank: number;
  readonly action: number;
}

class LoggingRun {
  readonly #world: World;
  readonly #recovery: Recovery;
  readonly #checkpoints: Checkpoints;
  readonly #script: Script;
  readonly #faults: Faults;
  readonly #histories: Histories;
  readonly #clock = new Clock();
  readonly #states: RankState[] = [];
  readonly #hasCheckpoints: boolean;
  readonly #times: readonly CheckpointTime[];
  readonly #patienceNs: number;

  constructor(options: LoggingSeedOptions, random: Random, ranks: number) {
    const worldOptions = randomWorld(random, ranks);
    const by = options.sets ?? random.pick(["node", "node", "rank", "random"]);
    const setOf = correlatedSets(random.fork(), by, ranks, worldOptions.nodes!);
    const mayCheckpoint = random.chance(0.6);
    this.#hasCheckpoints = options.hasCheckpoints ?? mayCheckpoint;
    this.#recovery = this.#newRecovery(options, random, setOf);
    this.#world = new World({
      ...worldOptions,
      eventsMax,
      hasImages: this.#hasCheckpoints,
      protocol: (rank) => this.#recovery.protocol(rank),
      crashed: (rank, before) => this.#recovery.crashed(rank, before),
      ...(options.listener === undefined ? {} : { listener: options.listener }),
    });
    const world = this.#world;
    this.#recovery.attach(world);
    this.#script = generate(random.fork(), {
      ranks,
      events: options.events ?? random.pick([10, 40, 100]),
      eagerBytesMax: world.cost.eagerBytesMax,
      deaths: false,
      keepsSends: true,
    });
    const actions = this.#script.actions.map(({ length }) => length);
    const hasCheckpoints = this.#hasCheckpoints;
    const faults = planFaults(random.fork(), { nodes: world.nodes, setOf, actions, hasCheckpoints });
    this.#faults = new Faults(faults, setOf);
    this.#recovery.onRestart = (set) => this.#faults.restarted(world, set);
    this.#histories = new Histories(ranks);
    this.#checkpoints = this.#newCheckpoints();
    this.#times = planTimes(random.fork(), actions);
    this.#patienceNs = random.pick([20_000, 500_000, 5_000_000]);
  }

  #newRecovery({ newProtocol }: LoggingSeedOptions, random: Random, setOf: Int32Array): Recovery {
    const delayNsMax = random.pick([1, 3_000, 30_000, 300_000]);
    const corrupt = random.fork();
    return new Recovery({
      ...{ setOf, delayNsMax, random: random.fork() },
      detectionNs: random.pick([0, 5_000, 300_000]),
      restartNs: random.pick([0, 5_000, 300_000]),
      newest: (set) => this.#checkpoints.newest(set, corrupt.chance(0.2)),
      logged: (set) => this.#checkpoints.commit(set),
      prepare: (process, image) => this.#prepare(process, image),
      start: ({ rank }) => this.#start(rank),
      ...(newProtocol === undefined ? {} : { newProtocol }),
    });
  }

  #newCheckpoints(): Checkpoints {
    const world = this.#world;
    return new Checkpoints({
      stateOf: (rank) => this.#states[rank]!,
      historyOf: (rank) => this.#histories.now(rank),
      restFinished: (rank, rest) => world.start(rank, rest),
      trim: (set, oldest) => this.#recovery.trim(set, oldest),
      happens: (step, set) => {
        world.trace.note(world.nowNs, step, [set]);
        this.#faults.checkpoint(world, step, set);
      },
    });
  }

  /** A new process has its state, that of an image or that of the beginning. */
  #prepare(process: SimProcess, image: RankImage | null): void {
    const { rank, engine } = process;
    const witness = {
      observe: (...numbers: readonly number[]) => this.#histories.observe(rank, ...numbers),
      passes: (action: number) => this.#passes(rank, action),
    };
    const observation = new Observation(this.#clock);
    const state = new RankState(this.#script, process, observation, witness, this.#hasCheckpoints);
    this.#states[rank] = state;
    if (image !== null) restoreRank(state, image);
    this.#histories.begin(rank, image?.history);
    engine.tracer = this.#histories.tracer(rank);
  }

  #start(rank: number): void {
    const rests = this.#hasCheckpoints ? this.#checkpoints.rests(this.#recovery.setOf[rank]!, rank) : null;
    this.#world.start(rank, () => interpret(this.#states[rank]!, rests));
  }

  #passes(rank: number, action: number): boolean {
    if (this.#hasCheckpoints && this.#times.some((time) => time.rank === rank && time.action === action)) {
      const life = this.#recovery.capturedLife(this.#recovery.setOf[rank]!);
      this.#checkpoints.ask(life, this.#patienceNs);
    }
    return this.#faults.passes(this.#world, rank, action);
  }

  judged(): LoggingOutcome {
    const world = this.#world;
    for (const process of world.processes) {
      this.#prepare(process, null);
      this.#start(process.rank);
    }
    const { firstPosted } = this.#clock;
    const outcome = judge(world, {
      ...{ script: this.#script, histories: this.#histories, firstPosted },
      givenUp: () => this.#checkpoints.counts.givenUp,
      observation: () =>
        Observation.of(
          this.#states.map(({ observation }) => observation),
          this.#clock,
        ),
    });
    const loggedBytes = world.processes.reduce(
      (sum, { core }) => sum + (core.protocol as LoggingProtocol).loggedBytes,
      0,
    );
    const { restarts, rare } = this.#recovery;
    const { counts: checkpoints } = this.#checkpoints;
    return { ...outcome, deaths: this.#faults.happened, restarts, rare, loggedBytes, checkpoints };
  }
}

/** Some at the end as well, when a rank has finished. */
function planTimes(random: Random, actions: readonly number[]): CheckpointTime[] {
  return Array.from({ length: random.between(1, 5) }, () => {
    const rank = random.below(actions.length);
    return { rank, action: random.between(0, actions[rank]!) };
  });
}
