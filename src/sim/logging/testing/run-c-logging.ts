/**
 * A program in C on simulated ranks that die and come back: module, binding and engine are those of the real world, and so are
 * protocol and images. The kind of world, its correlated sets, captures and deaths follow from the seed.
 */

import type { LoggingOptions, LoggingProtocol } from "../../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts } from "../../../core/ft/protocol.ts";
import { noFiles } from "../../c/library.ts";
import { CProcess, type CProcessOptions, type ProcessImage } from "../../c/process.ts";
import { SimProgramMemory } from "../../c/program-memory.ts";
import { PrintedOutput } from "../../outside/printed-output.ts";
import { Random } from "../../random.ts";
import { randomWorld } from "../../random-world.ts";
import type { Checkpoints } from "../../recovery/checkpoints.ts";
import { DrawnFaults, drawFaults, drawMoveFaults } from "../../recovery/drawn-faults.ts";
import { RecoveringWorld } from "../../recovery/recovering-world.ts";
import type { RecoveryHost } from "../../recovery/recovery-host.ts";
import { correlatedSets, eagerLimitWithSets, setsBy } from "../../recovery/sets.ts";
import { drawMoves, type SimMoves } from "../../recovery/sim-moves.ts";
import type { SimProcess, Steps } from "../../sim-process.ts";
import type { World } from "../../world.ts";
import { SimLogging } from "../sim-logging.ts";

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
  /** Are ranks moved to other nodes, and sets divided by that? */
  readonly moves?: boolean;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: (options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol;
}

export interface CLoggingOutcome {
  /** What went wrong with the run itself, "": nothing. */
  readonly problem: string;
  /** By rank. */
  readonly printed: readonly string[];
  readonly restarts: number;
  readonly rare: RecoveryHost["rare"] & SimLogging["rare"];
  readonly checkpoints: Checkpoints<ProcessImage>["counts"];
  readonly moves: SimMoves["counts"];
  readonly meetings: number;
  /** An event logger and a set were lost together, and the job has ended with that. */
  readonly isLegitimateEnd: boolean;
}

const eventsMax = 3_000_000;
const patienceNs = 2_000_000;

export const runCLogging = (options: CLoggingOptions): CLoggingOutcome => new CLoggingRun(options).run();

class CLoggingRun {
  readonly #options: CLoggingOptions;
  readonly #setOf: readonly number[];
  readonly #there: RecoveringWorld<SimProgramMemory, ProcessImage, SimLogging>;
  readonly #output: PrintedOutput;
  readonly #processes: CProcess[] = [];
  /** Calls of the present life of each rank; and of which rank, at which call, its set is captured. */
  readonly #calls: number[];
  readonly #times: readonly { readonly rank: number; readonly call: number }[];
  #problem = "";

  constructor(options: CLoggingOptions) {
    const { ranks, seed, calls, newMemory, newProtocol, hasCheckpoints = true } = options;
    const random = new Random(seed);
    this.#options = options;
    const drawn = randomWorld(random, ranks);
    const nodes = drawn.nodes!;
    const setOf = correlatedSets(random.fork(), random.pick(setsBy), ranks, nodes);
    const services = {
      random: random.fork(),
      delayNsMax: random.pick([1, 3_000, 30_000]),
      detectionNs: random.pick([0, 5_000, 300_000]),
      restartNs: random.pick([0, 5_000, 300_000]),
    };
    const corrupt = random.fork();
    this.#setOf = setOf;
    this.#calls = Array.from(setOf, () => 0);
    this.#output = new PrintedOutput(ranks);
    this.#times = Array.from({ length: hasCheckpoints ? random.between(1, 6) : 0 }, () => ({
      rank: random.below(ranks),
      call: random.below(calls),
    }));
    const actions = Array.from(setOf, () => calls);
    const faults = drawFaults(random.fork(), { nodes, setOf, actions, hasCheckpoints });
    const storeFaults = { random: random.fork(), torn: 0.5, damaged: 0.1 };
    // Of a source of its own: other draws are what they were.
    const ofMoves = new Random(seed).fork().fork();
    const moving = drawMoves(ofMoves, { nodes, actions });
    const moveFaults = drawMoveFaults(ofMoves, { nodes, setOf, actions, hasCheckpoints });
    const areMoved = options.moves === true && hasCheckpoints;
    this.#there = new RecoveringWorld(
      {
        world: {
          ...drawn,
          nodesMax: areMoved ? moving.nodesMax : undefined,
          eagerLimit: eagerLimitWithSets(drawn.eagerLimit, setOf),
          eventsMax,
          memoryOf: (_, arena) => new SimProgramMemory(newMemory(), arena),
        },
        setOf,
        moves: areMoved ? moving.moves : [],
        services,
        isCorrupt: () => corrupt.chance(0.2),
        checkpointPatienceNs: patienceNs,
        newParts: (ports) =>
          new SimLogging(
            { setOf, ...services, logBytesMax: null, loggerKeeps: false, newProtocol, storeFaults },
            ports,
          ),
        newTrouble: (world, ports) =>
          new DrawnFaults(areMoved ? [...faults, ...moveFaults] : faults, { world, setOf }, ports),
      },
      {
        prepare: (process, image) => this.#prepare(process, image),
        start: (rank) => this.#world.start(rank, () => this.#program(rank)),
        imageOf: (rank) => this.#processes[rank]!.image(),
        fell() {},
        captured() {},
      },
    );
  }

  get #world(): World<SimProgramMemory> {
    return this.#there.world;
  }

  #prepare(sim: SimProcess<SimProgramMemory>, image: ProcessImage | null): void {
    const { module, seed } = this.#options;
    const { rank } = sim;
    const options: CProcessOptions = {
      module,
      seed,
      args: ["program"],
      environment: [],
      files: noFiles,
      folders: [],
      startNs: 0,
      signalName: () => undefined,
      print() {},
      passes: () => this.#passes(rank),
      ended: (_, how) => this.#fail(`rank ${rank} ended: ${JSON.stringify(how)}`),
      recovery: {
        rests: () => this.#there.restsOf(rank)!,
        left: (_, place, bytes) => {
          const text = new TextDecoder().decode(bytes);
          this.#there.print(rank, () => this.#output.offer(rank, place, text));
        },
      },
    };
    this.#calls[rank] = 0;
    this.#processes[rank] = new CProcess(this.#world, sim, options, image);
  }

  *#program(rank: number): Steps {
    const incarnation = this.#there.recovery.incarnationOf(rank);
    yield* this.#processes[rank]!.run();
    this.#there.finished(rank, incarnation);
  }

  #passes(rank: number): void {
    const call = this.#calls[rank]!++;
    if (this.#times.some((time) => time.rank === rank && time.call === call)) this.#there.ask(this.#setOf[rank]!);
    this.#there.passes(rank, call);
  }

  #fail(problem: string): void {
    this.#problem ||= problem;
    this.#world.end(this.#world.nowNs);
  }

  run(): CLoggingOutcome {
    const world = this.#world;
    const { recovery, parts, checkpoints } = this.#there;
    try {
      this.#there.begin();
      const stuck = world.run();
      const text = stuck.map(({ rank }) => `rank ${rank} waits for ever ${this.#processes[rank]!.waitsFor}`).join("; ");
      this.#problem ||= text || this.#there.problemOfEnd;
    } catch (error) {
      this.#problem ||= error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    const isLegitimateEnd = parts.isLegitimateEnd(this.#there.outcome);
    return {
      problem: isLegitimateEnd ? "" : this.#problem,
      isLegitimateEnd,
      restarts: recovery.restarts,
      rare: { ...recovery.rare, ...parts.rare },
      checkpoints: checkpoints.counts,
      moves: this.#there.moves.counts,
      meetings: world.boardCounts.meetings,
      printed: world.processes.map(({ rank }) => this.#output.textOf(rank)),
    };
  }
}
