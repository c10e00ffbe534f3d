/** From a seed to a judged world: what kind of world, which program, whether anybody dies; everything follows from the seed. */
import { checkers } from "./checkers/all.ts";
import type { Evidence } from "./checkers/checker.ts";
import { costModelDefault } from "./cost-model.ts";
import { generate } from "./generator/generator.ts";
import { hesitantProtocol } from "./hesitant-protocol.ts";
import { interpret } from "./interpreter/interpreter.ts";
import { Observation } from "./observation.ts";
import { Random } from "./random.ts";
import type { Script } from "./script/script.ts";
import { World, type WorldOptions } from "./world.ts";

export interface SeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  readonly events?: number | undefined;
  readonly listener?: (line: string) => void;
}

export interface Violation {
  readonly invariant: string;
  readonly what: string;
}

export interface SeedOutcome {
  readonly violations: readonly Violation[];
  /** Of everything that happened: the same seed gives the same hash. */
  readonly hash: string;
  readonly ranks: number;
  readonly events: number;
  readonly messages: number;
  readonly collectives: number;
  readonly deaths: number;
  /** How often rare ways were taken; tests that claim to exercise one look here. */
  readonly marks: ReturnType<typeof marksOf>;
}

const eventsMax = 5_000_000;

export function runSeed(options: SeedOptions): SeedOutcome {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 13]);
  const world = new World({
    ...worldOptions(random, ranks),
    eventsMax,
    ...(options.listener === undefined ? {} : { listener: options.listener }),
  });
  const deaths = ranks > 1 && random.chance(0.15);
  const script = generate(random.fork(), {
    ranks,
    events: options.events ?? random.pick([10, 40, 100, 200]),
    eagerBytesMax: world.cost.eagerBytesMax,
    deaths,
  });
  const observation = new Observation();
  world.startAll((process) => interpret(script, process, observation));
  if (deaths) planDeaths(world, random);
  return judge(world, script, observation);
}

function worldOptions(random: Random, ranks: number): WorldOptions {
  // Under `none` the engine asks no protocol; some worlds run under one that hesitates, to go the other way.
  const hesitation = random.chance(0.3) ? random.fork() : null;
  return {
    ...(hesitation === null ? {} : { protocol: (_, wake) => hesitantProtocol(hesitation, wake) }),
    ranks,
    nodes: random.between(1, ranks),
    seed: random.bits(),
    sharesInside: random.chance(0.5),
    unexpectedBytesMax: random.pick([0, 500, 20_000, 16 << 20]),
    cost: {
      eagerBytesMax: random.pick([0, 64, 1_000, costModelDefault.eagerBytesMax]),
      channelBytesMax: random.pick([200, 2_000, costModelDefault.channelBytesMax]),
      pieceBytesMax: random.pick([100, 4_000, costModelDefault.pieceBytesMax]),
      helpBytesMin: random.pick([1, 10_000, costModelDefault.helpBytesMin]),
      fullChance: random.pick([0, 0, 0.05, 0.3]),
      jitterNs: random.pick([0, 1_000, 100_000]),
      detectionNs: random.pick([0, 5_000, 1_000_000]),
    },
  };
}

/** A process or a node, some time; now and then another process, soon or much later. Never everybody. */
function planDeaths(world: World, random: Random): void {
  const { processes, nodes } = world;
  const timeNs = random.below(200_000);
  const node = nodes > 1 && random.chance(0.4) ? random.below(nodes) : -1;
  const first = random.below(processes.length);
  if (node >= 0) world.planNodeCrash(timeNs, node);
  else world.planCrash(timeNs, first);
  const others = processes.filter((process) => (node >= 0 ? process.node !== node : process.rank !== first));
  if (others.length > 1 && random.chance(0.3)) {
    world.planCrash(timeNs + random.pick([0, 1_000, 100_000, 1_000_000]), random.pick(others).rank);
  }
}

function judge(world: World, script: Script, observation: Observation): SeedOutcome {
  const violations: Violation[] = [];
  let stuck: Evidence["stuck"] = [];
  try {
    stuck = world.run();
  } catch (error) {
    violations.push({
      invariant: "nothing throws",
      what: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
  const dead = new Set(world.processes.filter(({ state }) => state === "dead").map(({ rank }) => rank));
  const evidence = { script, observation, world, stuck, dead };
  // A world that threw stopped somewhere: what is missing then is no news.
  if (violations.length === 0) {
    for (const { name, check } of checkers) {
      for (const what of check(evidence)) violations.push({ invariant: name, what });
    }
  }
  return {
    violations,
    hash: world.trace.hash,
    ranks: script.ranks,
    events: world.trace.events,
    messages: script.messages.length,
    collectives: script.collectives.length,
    deaths: dead.size,
    marks: marksOf(world, observation),
  };
}

function marksOf({ processes, network }: World, { races }: Observation) {
  const marks = { fetch: 0, help: 0, put: 0, push: 0, full: network.timesFull, closed: network.timesClosed, ...races };
  for (const { transport } of processes) {
    for (const way of ["fetch", "help", "put", "push"] as const) marks[way] += transport.marks[way];
  }
  return marks;
}
