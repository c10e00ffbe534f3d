/**
 * From a seed to a judged world under message logging: which world, which program, which correlated sets, who dies when. The
 * dead come back, so in the end everything must be as if nobody had died.
 */
import type { LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import { generate } from "../generator/generator.ts";
import { interpret } from "../interpreter/interpreter.ts";
import { judge, type SeedOutcome } from "../judge.ts";
import { Clock, Observation } from "../observation.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import type { SimProcess } from "../sim-process.ts";
import { World } from "../world.ts";
import { Faults, planFaults } from "./faults.ts";
import { Histories } from "./histories.ts";
import { Recovery } from "./recovery.ts";
import { correlatedSets, type SetsBy } from "./sets.ts";

export interface LoggingSeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  readonly events?: number | undefined;
  readonly sets?: SetsBy | undefined;
  readonly listener?: (line: string) => void;
  /** Another protocol than the real one, for tests that want to see it fail. */
  readonly newProtocol?: (options: LoggingOptions) => LoggingProtocol;
}

export interface LoggingOutcome extends SeedOutcome {
  readonly restarts: number;
  /** In all payload logs at the end. */
  readonly loggedBytes: number;
  /** How often rare things happened. */
  readonly rare: Recovery["rare"];
}

/** More than worlds in which nobody dies: everything may be done several times. */
const eventsMax = 20_000_000;

export function runLoggingSeed(options: LoggingSeedOptions): LoggingOutcome {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([2, 2, 3, 4, 5, 6, 7, 8]);
  const worldOptions = randomWorld(random, ranks);
  const by = options.sets ?? random.pick(["node", "node", "rank", "random"]);
  const setOf = correlatedSets(random.fork(), by, ranks, worldOptions.nodes!);
  const { newProtocol } = options;
  const delayNsMax = random.pick([1, 3_000, 30_000, 300_000]);
  const recovery = new Recovery({
    ...{ setOf, delayNsMax, random: random.fork(), start: (process) => start(process) },
    detectionNs: random.pick([0, 5_000, 300_000]),
    restartNs: random.pick([0, 5_000, 300_000]),
    ...(newProtocol === undefined ? {} : { newProtocol }),
  });
  const world = new World({
    ...worldOptions,
    eventsMax,
    protocol: (rank) => recovery.protocol(rank),
    crashed: (rank, before) => recovery.crashed(rank, before),
    ...(options.listener === undefined ? {} : { listener: options.listener }),
  });
  recovery.attach(world);
  const script = generate(random.fork(), {
    ranks,
    events: options.events ?? random.pick([10, 40, 100]),
    eagerBytesMax: world.cost.eagerBytesMax,
    deaths: false,
    keepsSends: true,
  });
  const actions = script.actions.map(({ length }) => length);
  const faults = new Faults(planFaults(random.fork(), { nodes: world.nodes, setOf, actions }), setOf);
  recovery.onRestart = (set) => faults.restarted(world, set);
  const histories = new Histories(ranks);
  const clock = new Clock();
  const observations: Observation[] = [];
  const start = (process: SimProcess): void => {
    const { rank, engine } = process;
    const observation = new Observation(clock);
    observations[rank] = observation;
    histories.begin(rank);
    engine.tracer = histories.tracer(rank);
    world.start(rank, () =>
      interpret(script, process, observation, {
        observe: (...numbers) => histories.observe(rank, ...numbers),
        passes: (action) => faults.passes(world, rank, action),
      }),
    );
  };
  for (const process of world.processes) start(process);
  const evidence = { script, histories, firstPosted: clock.firstPosted };
  const outcome = judge(world, { ...evidence, observation: () => Observation.of(observations, clock) });
  const loggedBytes = world.processes.reduce(
    (sum, { core }) => sum + (core.protocol as LoggingProtocol).loggedBytes,
    0,
  );
  const { restarts, rare } = recovery;
  return { ...outcome, deaths: faults.happened, restarts, rare, loggedBytes };
}
