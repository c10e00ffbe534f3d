/** From a seed to a judged world: its kind, its program and its deaths follow from the seed. */
import type { ProtocolDefinition } from "../core/ft/definition.ts";
import { type Deaths, generate } from "./generator/generator.ts";
import { hesitantProtocol } from "./hesitant-protocol.ts";
import { interpret } from "./interpreter/interpreter.ts";
import { ScriptState } from "./interpreter/script-state.ts";
import { judgeWorld, type SeedOutcome } from "./judge.ts";
import { Observation } from "./observation.ts";
import { atOnce } from "./outside/outside.ts";
import { PrintedOutput } from "./outside/printed-output.ts";
import { RankFiles } from "./outside/rank-files.ts";
import { Random } from "./random.ts";
import { randomWorld } from "./random-world.ts";
import { World, type WorldOptions } from "./world.ts";

export type { SeedOutcome } from "./judge.ts";

interface SeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  readonly events?: number | undefined;
  readonly deaths?: Deaths | undefined;
  /** Families of actions that are drawn much more often than usual, by their names. */
  readonly often?: readonly string[] | undefined;
  readonly listener?: (line: string) => void;
  /** How often processes that wait ask each other about their collectives; unless given, at rest only. */
  readonly inquiryNs?: number | undefined;
  /** Of every process; otherwise none, or one that hesitates: the seed decides. */
  readonly protocol?: ProtocolDefinition | undefined;
}

const eventsMax = 5_000_000;

export function runSeed(options: SeedOptions): SeedOutcome {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 13]);
  const world = new World({
    ...hesitation(random),
    ...protocolOf(options.protocol ?? null, ranks),
    ...randomWorld(random, ranks),
    eventsMax,
    ...(options.listener === undefined ? {} : { listener: options.listener }),
    ...(options.inquiryNs === undefined ? {} : { inquiryNs: options.inquiryNs }),
  });
  const drawn = random.chance(0.15) ? random.pick(["go-on", "revoke"] as const) : "none";
  const deaths = ranks > 1 ? (options.deaths ?? drawn) : "none";
  const script = generate(random.fork(), {
    ranks,
    events: options.events ?? random.pick([10, 40, 100, 200]),
    eagerBytesMax: world.cost.eagerBytesMax,
    often: options.often,
    deaths,
  });
  const observation = new Observation();
  const outside = atOnce(new PrintedOutput(ranks), new RankFiles(ranks, () => world.nowNs));
  world.startAll((process) => interpret(new ScriptState(script, process, { observation, witness: null, outside })));
  if (deaths !== "none") planDeaths(world, random);
  return judgeWorld(world, { script, observation, ...outside });
}

/** Under `none` the engine asks no protocol; some worlds run under one that hesitates, to go the other way. */
function hesitation(random: Random): Pick<WorldOptions, "protocol"> {
  const decides = random.chance(0.3) ? random.fork() : null;
  return decides === null ? {} : { protocol: (_, wake) => hesitantProtocol(decides, wake) };
}

function protocolOf(definition: ProtocolDefinition | null, ranks: number): Pick<WorldOptions, "protocol"> {
  const newRank = definition?.rank ?? null;
  if (newRank === null) return {};
  const part = { replica: 0, ranks, setOf: new Int32Array(ranks), options: {}, resources: undefined };
  return { protocol: (rank) => newRank({ ...part, rank, passed: new Float64Array(1) }) };
}

/** The death of a process or of a node; now and then that of another process, soon or much later. Never of all. */
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
