/**
 * A program in C on simulated ranks that die and come back: module, binding and engine are those of the real world, and so are
 * protocol and images. What kind of world, which correlated sets, who is captured and who dies when follows from the seed.
 */

import { noFiles } from "../c/library.ts";
import { CProcess, type CProcessOptions, type ProcessImage } from "../c/process.ts";
import { SimProgramMemory } from "../c/program-memory.ts";
import { Output } from "../outside/output.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import { World } from "../world.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Faults, planFaults } from "./faults.ts";
import { Recovery } from "./recovery.ts";
import { correlatedSets, fallsAsOne, setsBy } from "./sets.ts";

export interface CLoggingOptions {
  readonly module: WebAssembly.Module;
  readonly ranks: number;
  readonly seed: number;
  /** About how many calls each rank makes in which it can be captured. */
  readonly calls: number;
  /** A new one of the right size for each life: all zeros, shared. */
  readonly newMemory: () => WebAssembly.Memory;
  /** Otherwise nobody is captured, and everybody starts again from the beginning. */
  readonly hasCheckpoints?: boolean;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: ConstructorParameters<typeof Recovery>[0]["newProtocol"];
}

export interface CLoggingOutcome {
  /** What went wrong with the run itself, "": nothing. */
  readonly problem: string;
  /** By rank. */
  readonly printed: readonly string[];
  readonly restarts: number;
  readonly rare: Recovery["rare"];
  readonly checkpoints: Checkpoints["counts"];
  readonly meetings: number;
}

const eventsMax = 3_000_000;
const patienceNs = 2_000_000;

export const runCLogging = (options: CLoggingOptions): CLoggingOutcome => new CLoggingRun(options).run();

class CLoggingRun {
  readonly #options: CLoggingOptions;
  readonly #setOf: Int32Array;
  readonly #world: World<SimProgramMemory>;
  readonly #recovery: Recovery;
  readonly #checkpoints: Checkpoints<ProcessImage>;
  readonly #faults: Faults;
  readonly #output: Output;
  readonly #processes: CProcess[] = [];
  /** Calls of the present life of each rank; and of which rank, at which call, its set is captured. */
  readonly #calls: number[];
  readonly #times: readonly { readonly rank: number; readonly call: number }[];
  #problem = "";

  constructor(options: CLoggingOptions) {
    const { ranks, seed, calls, newMemory, hasCheckpoints = true } = options;
    const random = new Random(seed);
    this.#options = options;
    const { boards, ...drawn } = randomWorld(random, ranks);
    const nodes = drawn.nodes!;
    const setOf = correlatedSets(random.fork(), random.pick(setsBy), ranks, nodes);
    this.#setOf = setOf;
    this.#calls = Array.from(setOf, () => 0);
    this.#output = new Output(ranks);
    this.#recovery = this.#newRecovery(random.fork());
    this.#world = new World<SimProgramMemory>({
      ...{ ...drawn, eventsMax },
      ...(boards === undefined ? {} : { boards: { ...boards, mayUse: (node) => fallsAsOne(node, setOf, drawn) } }),
      memoryOf: (_, arena) => new SimProgramMemory(newMemory(), arena),
      protocol: (rank) => this.#recovery.protocol(rank),
      crashed: (rank, before) => this.#recovery.crashed(rank, before),
    });
    // It never looks at the memory of a process.
    const world = this.#world as unknown as World;
    this.#recovery.attach(world);
    this.#checkpoints = this.#newCheckpoints();
    const actions = Array.from(setOf, () => calls);
    this.#times = Array.from({ length: hasCheckpoints ? random.between(1, 6) : 0 }, () => ({
      ...{ rank: random.below(ranks), call: random.below(calls) },
    }));
    const faults = planFaults(random.fork(), { nodes, setOf, actions, hasCheckpoints });
    this.#faults = new Faults(faults, {
      ...{ world, setOf },
      lose: (service) => {
        if (service === "event-logger") this.#recovery.loseLogger();
        if (service === "checkpoint-server") this.#checkpoints.serverLost();
      },
    });
    this.#recovery.onRestart = (set) => this.#faults.restarted(set);
  }

  #newRecovery(random: Random): Recovery {
    const { newProtocol } = this.#options;
    const corrupt = random.fork();
    return new Recovery({
      ...{ setOf: this.#setOf, random, delayNsMax: random.pick([1, 3_000, 30_000]) },
      ...{ detectionNs: random.pick([0, 5_000, 300_000]), restartNs: random.pick([0, 5_000, 300_000]) },
      newest: (set) => this.#checkpoints.newest(set, corrupt.chance(0.2)) as never,
      logged: (set) => this.#checkpoints.commit(set),
      declared: (set) => this.#checkpoints.fell(set),
      prepare: ({ rank }, image) => this.#prepare(rank, image as unknown as ProcessImage | null),
      start: ({ rank }) => this.#start(rank),
      ...(newProtocol === undefined ? {} : { newProtocol }),
    });
  }

  #newCheckpoints(): Checkpoints<ProcessImage> {
    const world = this.#world;
    const setOf = this.#setOf;
    return new Checkpoints<ProcessImage>({
      setOf,
      sets: Array.from({ length: Math.max(...setOf) + 1 }, (_, set) => this.#recovery.membersOf(set)),
      stateOf: (rank) => ({ process: world.processes[rank]!, core: world.processes[rank]!.core }),
      imageOf: (rank) => this.#processes[rank]!.image(),
      restFinished: (rank, rest) => world.start(rank, rest),
      trim: (set, oldest) => this.#recovery.trim(set, oldest),
      happens: (event) => this.#faults.checkpoint(event),
    });
  }

  #prepare(rank: number, image: ProcessImage | null): void {
    const { module, seed } = this.#options;
    const options: CProcessOptions = {
      ...{ module, seed, args: ["program"], environment: [], files: noFiles, folders: [], startNs: 0 },
      signalName: () => undefined,
      print() {},
      passes: () => this.#passes(rank),
      ended: (_, how) => this.#fail(`rank ${rank} ended: ${JSON.stringify(how)}`),
      recovery: {
        rests: () => this.#checkpoints.rests(this.#setOf[rank]!, rank),
        left: (_, place, bytes) => {
          const text = new TextDecoder().decode(bytes);
          this.#recovery.capturedLife(this.#setOf[rank]!).travel(() => this.#output.offer(rank, place, text));
        },
      },
    };
    this.#calls[rank] = 0;
    this.#processes[rank] = new CProcess(this.#world, this.#world.processes[rank]!, options, image);
  }

  #start(rank: number): void {
    const process = this.#processes[rank]!;
    this.#world.start(rank, () => process.run());
  }

  #passes(rank: number): void {
    const call = this.#calls[rank]!++;
    const set = this.#setOf[rank]!;
    if (this.#times.some((time) => time.rank === rank && time.call === call)) {
      this.#checkpoints.ask(this.#recovery.capturedLife(set), patienceNs);
    }
    this.#faults.passes(rank, call);
  }

  #fail(problem: string): void {
    this.#problem ||= problem;
    this.#world.end(this.#world.nowNs);
  }

  run(): CLoggingOutcome {
    const world = this.#world;
    try {
      for (const { rank } of world.processes) {
        this.#prepare(rank, null);
        this.#start(rank);
      }
      const stuck = world.run();
      const text = stuck.map(({ rank }) => `rank ${rank} waits for ever ${this.#processes[rank]!.waitsFor}`).join("; ");
      this.#problem ||= text;
    } catch (error) {
      this.#problem ||= error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    const { restarts, rare } = this.#recovery;
    return {
      ...{ problem: this.#problem, restarts, rare, checkpoints: this.#checkpoints.counts },
      meetings: world.boardCounts.meetings,
      printed: world.processes.map(({ rank }) => this.#output.textOf(rank)),
    };
  }
}
