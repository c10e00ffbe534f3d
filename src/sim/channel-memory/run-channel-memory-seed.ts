/** From a seed to a world under channel memories: its kind, its program, its memories, its deaths. */
import type {
  ChannelMemoryOptions,
  ChannelMemoryProtocol,
} from "../../core/ft/channel-memory/channel-memory-protocol.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { costModelDefault } from "../cost-model.ts";
import { generate } from "../generator/generator.ts";
import type { RecoveringSeedOptions, SeededWorld } from "../protocol-worlds/seeded-world.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import { manyTimes, planTimes, waitsForCheckpoints } from "../recovery/checkpoint-times.ts";
import { DrawnFaults, drawFaults, drawStops } from "../recovery/drawn-faults.ts";
import { type RecoveringOutcome, RecoveringRun, type RecoveringSetup } from "../recovery/recovering-run.ts";
import { SimPlannedFaults } from "../recovery/sim-planned-faults.ts";
import { SimChannelMemory, type SimChannelMemoryOptions } from "./sim-channel-memory.ts";

interface ChannelMemorySeedOptions extends RecoveringSeedOptions {
  /** Without checkpoints everybody starts again from the beginning. Otherwise the seed decides. */
  readonly hasCheckpoints?: boolean | undefined;
  /** What happens to memories of a job that is switched off; the seed decides unless given. */
  readonly powerCuts?: "none" | "synced" | "unsynced" | undefined;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: ((options: ChannelMemoryOptions, ports: ProtocolPorts) => ChannelMemoryProtocol) | undefined;
}

interface ChannelMemorySetup {
  readonly recovering: RecoveringSetup;
  readonly parts: SimChannelMemoryOptions;
}

export type ChannelMemoryOutcome = RecoveringOutcome<SimChannelMemory>;

export function channelMemoryWorld(options: ChannelMemorySeedOptions): SeededWorld {
  const setup = setupOf(options);
  const { world, setOf } = setup.recovering;
  const size = { ranks: world.ranks, nodes: world.nodes ?? 1, sets: Math.max(...setOf) + 1 };
  return { size, run: () => run(setup) };
}

export const runChannelMemorySeed = (options: ChannelMemorySeedOptions): ChannelMemoryOutcome => run(setupOf(options));

function run({ recovering, parts }: ChannelMemorySetup): ChannelMemoryOutcome {
  const world = new RecoveringRun(recovering, (ports) => new SimChannelMemory(parts, ports));
  const outcome = world.judged();
  world.parts.count();
  return { ...outcome, rare: { ...outcome.rare, ...world.parts.rare } };
}

/** Every rank falls for itself, and is captured for itself. */
function setupOf(options: ChannelMemorySeedOptions): ChannelMemorySetup {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([2, 2, 3, 4, 5, 6, 7, 8]);
  const drawn = randomWorld(random, ranks);
  const nodes = Math.min(options.nodes ?? drawn.nodes!, ranks);
  const setOf = Array.from({ length: ranks }, (_, rank) => rank);
  const { boards: _boards, ...world } = { ...drawn, nodes };
  const hasCheckpoints = options.hasCheckpoints ?? (random.chance(0.6) || waitsForCheckpoints(options.faults));
  const delayNsMax = random.pick([1, 3_000, 30_000, 300_000]);
  const corrupt = random.fork();
  const services = {
    delayNsMax,
    random: random.fork(),
    detectionNs: random.pick([0, 5_000, 300_000]),
    restartNs: random.pick([0, 5_000, 300_000]),
  };
  const keepsSuspects = options.keepSuspects ?? random.chance(0.2);
  const script = generate(random.fork(), {
    ranks,
    events: options.events ?? random.pick([10, 40, 100]),
    eagerBytesMax: world.cost?.eagerBytesMax ?? costModelDefault.eagerBytesMax,
    deaths: "none",
    often: options.often,
    // A suspect writes to the files of its rank beside the next life, and nobody can keep it from that.
    without: keepsSuspects ? ["files", "shared files"] : [],
    mayCancelSend: () => true,
  });
  const actions = script.actions.map(({ length }) => length);
  const drawnFaults = drawFaults(random.fork(), { nodes, setOf, actions, hasCheckpoints });
  const stops = drawStops(random.fork(), { nodes, setOf, actions, hasCheckpoints });
  const faults = keepsSuspects ? [...drawnFaults, ...stops] : drawnFaults;
  const suspectsWakeNsMax = keepsSuspects ? random.pick([0, 5_000, 50_000, 500_000]) : undefined;
  const drawnTimes = planTimes(random.fork(), actions);
  const times = waitsForCheckpoints(options.faults) ? manyTimes(setOf, actions) : drawnTimes;
  const pieceBytesMax = random.pick([64, 1024, 1 << 14]);
  return {
    recovering: {
      services: { ...services, suspectsWakeNsMax },
      world,
      setOf,
      script,
      listener: options.listener,
      checkpoints: hasCheckpoints ? { times, patienceNs: random.pick([20_000, 500_000, 5_000_000]) } : null,
      isCorrupt: () => corrupt.chance(0.2),
      input: { random: random.fork(), delayNsMax },
      trouble: (there, ports) =>
        options.faults === undefined
          ? new DrawnFaults(faults, { world: there, setOf }, ports)
          : new SimPlannedFaults(options.faults, { seed: options.seed, world: there, setOf }, ports),
    },
    parts: {
      setOf,
      ...services,
      random: random.fork(),
      memories: random.between(1, Math.min(ranks, 3)),
      limits: { pieceBytesMax, inlineBytesMax: random.pick([0, 64, pieceBytesMax]) },
      bytesMax: random.pick([0, 1000, 1 << 20]),
      segmentWordsMax: random.pick([100, 2000, 1 << 18]),
      // Room for any frame: whole ones are acknowledged.
      outgoingWordsMax: pieceBytesMax / 4 + random.pick([1 << 9, 1 << 12, 1 << 16]),
      newProtocol: options.newProtocol,
      powerCuts: options.powerCuts ?? random.pick(["none", "synced"] as const),
      itemsMax: random.pick([1, 2, 3, 30, 1 << 20]),
    },
  };
}
