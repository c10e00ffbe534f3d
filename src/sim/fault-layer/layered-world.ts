/** A world whose processes all run one program under the fault-simulation layer. */
import type { WorldRank } from "../../core/base/brand.ts";
import type { BackgroundWay } from "../../core/fault-layer/background-way.ts";
import type { FaultLayerOptions } from "../../core/fault-layer/fault-layer.ts";
import type { Say } from "../../core/fault-layer/side-channel.ts";
import type { Engine } from "../../core/p2p/engine.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { sideContext } from "../../core/process/context.ts";
import { R_BYTES, R_CONTEXT, R_MODE } from "../../core/request/records.ts";
import { PacketKind } from "../../core/wire/packet.ts";
import type { Steps } from "../sim-process.ts";
import { World, type WorldOptions } from "../world.ts";
import { LayeredRank } from "./layered-rank.ts";
import { nameOfSay } from "./said-text.ts";

export type LayeredProgram = (rank: LayeredRank) => Steps;

interface LayeredWorldOptions extends WorldOptions {
  /** Two unless given. */
  readonly fanOut?: number;
  /** By the tree unless given. */
  readonly background?: BackgroundWay;
  /** Of bits of messages; 0 unless given. */
  readonly flipProbability?: number;
  /** Gets every word that processes say to each other, and the communicator that it concerns; null: the two processes. */
  readonly heard?: (
    from: number,
    to: WorldRank,
    kind: Say,
    words: readonly number[],
    comm: Communicator | null,
  ) => void;
}

export interface LayeredOutcome {
  readonly world: World;
  readonly ranks: readonly LayeredRank[];
  /** Those that still wait when nothing happens any more, and for what. */
  readonly stuck: readonly string[];
  /** What is left behind by processes that have ended: nothing should be. */
  readonly left: readonly string[];
  /** What the processes have said to each other, in order: "2 -> 0 DEATH 2 1". */
  readonly said: readonly string[];
}

export function runLayered(options: LayeredWorldOptions, program: LayeredProgram): LayeredOutcome {
  const { fanOut = 2, background = "tree", flipProbability = 0, heard, boards, ...worldOptions } = options;
  const world = new World({
    ...worldOptions,
    ...(boards === undefined ? {} : { boards: { ...boards, mayLend: false } }),
  });
  const said: string[] = [];
  const ranks = world.processes.map((process) => {
    const listener: FaultLayerOptions["listener"] = (to, kind, words, comm) => {
      said.push([process.rank, "->", to, nameOfSay(kind), ...words].join(" "));
      heard?.(process.rank, to, kind, words, comm);
    };
    return new LayeredRank(process, { fanOut, background, listener }, flipProbability);
  });
  world.startAll((process) => program(ranks[process.rank]!));
  const stuck = world.run().map(({ rank, waitsFor }) => `rank ${rank} waits for ${waitsFor}`);
  return { world, ranks, stuck, left: world.processes.flatMap(leftBy), said };
}

/** Of messages of the program that it has never received: they are no business of the layer. */
function bytesUnread({ unexpected, records }: Engine): number {
  let bytes = 0;
  unexpected.forEach((envelope) => {
    const context = records.get(envelope, R_CONTEXT);
    const isOfLayer = context === sideContext(context);
    const isHere = records.get(envelope, R_MODE) === PacketKind.EAGER;
    if (!isOfLayer && isHere) bytes += records.get(envelope, R_BYTES);
  });
  return bytes;
}

function leftBy({ rank, core, engine, memory }: World["processes"][number]): string[] {
  const counts = {
    tasks: core.tasks.length,
    collectives: core.collectives.operations.length,
    receives: engine.posted.count,
    bytes: memory.bytesAllocated - bytesUnread(engine),
    views: memory.viewsLent,
  };
  return Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : [`rank ${rank}: ${count} ${what}`]));
}
