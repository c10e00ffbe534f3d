/** From a seed to a world under message logging: its kind, its program, its correlated sets, its deaths. */

import type { LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import { costModelDefault } from "../cost-model.ts";
import { generate } from "../generator/generator.ts";
import type { RecoveringSeedOptions, SeededWorld } from "../protocol-worlds/seeded-world.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import { manyTimes, planTimes, waitsForCheckpoints } from "../recovery/checkpoint-times.ts";
import { DrawnFaults, drawFaults, drawMoveFaults, drawStops } from "../recovery/drawn-faults.ts";
import { correlatedSets, eagerLimitWithSets } from "../recovery/sets.ts";
import { drawMoves } from "../recovery/sim-moves.ts";
import { SimPlannedFaults } from "../recovery/sim-planned-faults.ts";
import { type LoggingOutcome, type LoggingSetup, runLogging } from "./run-logging.ts";

export interface LoggingSeedOptions extends RecoveringSeedOptions {
  /** Without checkpoints everybody starts again from the beginning. Otherwise the seed decides. */
  readonly hasCheckpoints?: boolean | undefined;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: (options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol;
}

export function loggingWorld(options: LoggingSeedOptions): SeededWorld {
  const setup = setupOf(options);
  const { world, setOf } = setup;
  const size = { ranks: world.ranks, nodes: world.nodes ?? 1, sets: Math.max(...setOf) + 1 };
  return { size, run: () => runLogging(setup) };
}

export const runLoggingSeed = (options: LoggingSeedOptions): LoggingOutcome => runLogging(setupOf(options));

/** A family of actions. */
const files = "files";
const sharedFiles = "shared files";

/** Every draw has its place: what is decided otherwise is drawn all the same, so that nothing else changes. */
export function setupOf(options: LoggingSeedOptions): LoggingSetup {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([2, 2, 3, 4, 5, 6, 7, 8]);
  const drawn = randomWorld(random, ranks);
  const nodes = Math.min(options.nodes ?? drawn.nodes!, ranks);
  const by = options.sets ?? random.pick(["node", "node", "rank", "random"]);
  const setOf = correlatedSets(random.fork(), by, ranks, nodes);
  const world = { ...drawn, nodes, eagerLimit: eagerLimitWithSets(drawn.eagerLimit, setOf) };
  const mayCheckpoint = random.chance(0.6);
  const hasCheckpoints =
    options.hasCheckpoints ?? (mayCheckpoint || options.moves === true || waitsForCheckpoints(options.faults));
  const delayNsMax = random.pick([1, 3_000, 30_000, 300_000]);
  const corrupt = random.fork();
  const services = {
    delayNsMax,
    random: random.fork(),
    detectionNs: random.pick([0, 5_000, 300_000]),
    restartNs: random.pick([0, 5_000, 300_000]),
  };
  // Of a source of its own: other draws are what they were.
  const ofSuspects = new Random(options.seed).fork();
  const mayKeepSuspects =
    ofSuspects.chance(0.1) && ![files, sharedFiles].some((name) => options.often?.includes(name) === true);
  const keepsSuspects = options.keepSuspects ?? mayKeepSuspects;
  const script = generate(random.fork(), {
    ranks,
    events: options.events ?? random.pick([10, 40, 100]),
    eagerBytesMax: world.cost?.eagerBytesMax ?? costModelDefault.eagerBytesMax,
    deaths: "none",
    often: options.often,
    // A suspect writes to the files of its rank beside the next life, and nobody can keep it from that.
    without: keepsSuspects ? [files, sharedFiles] : [],
    // Inside a set it is not replayed how that ended (docs/logging.md).
    mayCancelSend: (from, to) => setOf[from] !== setOf[to],
  });
  const actions = script.actions.map(({ length }) => length);
  const drawnFaults = drawFaults(random.fork(), { nodes, setOf, actions, hasCheckpoints });
  const drawnTimes = planTimes(random.fork(), actions);
  const times = waitsForCheckpoints(options.faults) ? manyTimes(setOf, actions) : drawnTimes;
  const patienceNs = random.pick([20_000, 500_000, 5_000_000]);
  const logBytesMax = random.pick([null, null, 0, 300, 5_000]);
  const stops = drawStops(ofSuspects, { nodes, setOf, actions, hasCheckpoints });
  const faults = keepsSuspects ? [...drawnFaults, ...stops] : drawnFaults;
  const suspectsWakeNsMax = keepsSuspects ? ofSuspects.pick([0, 5_000, 50_000, 500_000]) : undefined;
  const noticeNsMax = keepsSuspects ? ofSuspects.pick([1, 1, 10]) * delayNsMax : undefined;
  const ofMoves = new Random(options.seed).fork().fork();
  const moving = drawMoves(ofMoves, { nodes, actions });
  const moveFaults = drawMoveFaults(ofMoves, { nodes, setOf, actions, hasCheckpoints });
  const areMoved = options.moves === true && hasCheckpoints;
  return {
    moves: areMoved ? moving.moves : [],
    services: { ...services, suspectsWakeNsMax, noticeNsMax },
    world: { ...world, nodesMax: areMoved ? moving.nodesMax : undefined },
    setOf,
    script,
    listener: options.listener,
    newProtocol: options.newProtocol,
    checkpoints: hasCheckpoints ? { times, patienceNs } : null,
    isCorrupt: () => corrupt.chance(0.2),
    logBytesMax,
    storeFaults: { random: random.fork(), torn: 0.5, damaged: 0.1 },
    input: { random: random.fork(), delayNsMax },
    trouble: (there, ports) =>
      options.faults === undefined
        ? new DrawnFaults(areMoved ? [...faults, ...moveFaults] : faults, { world: there, setOf }, ports)
        : new SimPlannedFaults(options.faults, { seed: options.seed, world: there, setOf }, ports),
  };
}
