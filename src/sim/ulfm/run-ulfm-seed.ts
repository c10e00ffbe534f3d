/**
 * From a seed to a judged world whose ranks die and whose programs repair themselves. Nobody is ever stuck, what completed is right,
 * agreements and shrunken communicators are the same for all that saw them, also for those that died later.
 */
import { marksOf, type SeedOutcome } from "../judge.ts";
import { Ledger } from "../ledger.ts";
import { Observation } from "../observation.ts";
import { FileSystem } from "../outside/file-system.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import { World } from "../world.ts";
import { Births } from "./births.ts";
import { RepairingRank } from "./repairing-program.ts";

interface UlfmSeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  /** How many rounds. */
  readonly events?: number | undefined;
  readonly listener?: (line: string) => void;
}

const eventsMax = 5_000_000;

interface UlfmSeedOutcome extends SeedOutcome {
  /** Uses of files, and spawned processes that were taken in. */
  readonly files: number;
  readonly joined: number;
}

export function runUlfmSeed(options: UlfmSeedOptions): UlfmSeedOutcome {
  const { seed } = options;
  const random = new Random(seed);
  const ranks = options.ranks ?? random.pick([1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 20]);
  const spares = random.pick([0, 2, 5]);
  const drawn = randomWorld(random, ranks + spares);
  const inFlightAtCrash = random.pick(["lost", "delivered", "either"] as const);
  const world = new World({
    ...drawn,
    ranksFirst: spares === 0 ? undefined : ranks,
    cost: { ...drawn.cost, inFlightAtCrash },
    eventsMax,
    ...(options.listener === undefined ? {} : { listener: options.listener }),
  });
  planDeaths(world, random);
  const ledger = new Ledger();
  const rounds = options.events ?? random.pick([3, 8, 15]);
  const births = new Births(world, random.fork(), (birth) => (process) => new RepairingRank(process, plan).join(birth));
  const plan = {
    seed: random.bits(),
    rounds,
    ledger,
    orders: new Map(),
    births,
    files: new FileSystem(() => BigInt(Math.round(world.nowNs))),
    isDead: (rank: number): boolean => world.processes[rank]!.state === "dead",
    die: (rank: number): void => world.plan(world.nowNs, () => world.crash(rank)),
  };
  for (let rank = 0; rank < ranks; rank++) world.start(rank, (process) => new RepairingRank(process, plan).run());
  run(world, ledger);
  const dead = world.processes.filter(({ state }) => state === "dead").length;
  const { messages, collectives, agreements, files, joined } = ledger.counts;
  return {
    violations: ledger.violations,
    hash: world.trace.hash,
    ranks,
    events: world.trace.events,
    messages,
    collectives: collectives + agreements,
    files,
    joined,
    deaths: dead,
    gaveUp: 0,
    marks: marksOf(world, new Observation()),
  };
}

function run(world: World, ledger: Ledger): void {
  try {
    for (const { rank, waitsFor } of world.run()) {
      ledger.wrong("nobody is stuck", `rank ${rank} waits for ${waitsFor}`);
    }
  } catch (error) {
    ledger.wrong("nothing throws", error instanceof Error ? (error.stack ?? error.message) : String(error));
    return;
  }
  for (const { rank, state, core, engine } of world.processes) {
    if (state !== "finished" || ledger.violations.length > 0) continue;
    const left = core.tasks.length + core.collectives.operations.length + engine.posted.count;
    if (left > 0) ledger.wrong("nothing is left behind", `rank ${rank} has ${left} operations under way at its end`);
  }
}

/** Up to all but one, at moments of any density, whole nodes among them. */
function planDeaths(world: World, random: Random): void {
  const { processes, nodes } = world;
  const spanNs = random.pick([20_000, 200_000, 2_000_000, 20_000_000]);
  const survivor = random.below(processes.length);
  const deaths = random.below(Math.min(processes.length, random.pick([2, 2, 4, 20])));
  for (let i = 0; i < deaths; i++) {
    const timeNs = random.below(spanNs);
    const { node } = processes[survivor]!;
    const other = random.below(nodes);
    const rank = random.below(processes.length);
    if (other !== node && random.chance(0.2)) world.planNodeCrash(timeNs, other);
    else if (rank !== survivor) world.planCrash(timeNs, rank);
  }
}
