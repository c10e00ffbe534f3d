/**
 * From a seed to judged worlds of replicas in which the lost come back (R6): a random send-deterministic program; deaths at any moment, also of
 * sources and clones while a clone is being made, as long as each rank has one living process; every world comes to the right answer.
 */
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import type { Suspicion } from "../../core/ft/replication/comparing/message-comparison.ts";
import { Membership } from "../../core/ft/replication/membership.ts";
import type { ComparedBy, ReplicationVariant } from "../../core/ft/replication/options.ts";
import type { ReplicationOptions, ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { replicaOfVariant } from "../../core/ft/replication/variants.ts";
import type { CloneAttempt } from "../../core/service/clone-schedule.ts";
import { SpareNodes } from "../../core/service/spare-nodes.ts";
import { generate } from "../generator/generator.ts";
import { marksOf, type SeedOutcome, type Violation } from "../judge.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import type { Script } from "../script/script.ts";
import type { World, WorldOptions } from "../world.ts";
import { judgeWorlds } from "./judge-worlds.ts";
import { planStops } from "./node-stops.ts";
import { type CloneMoment, RevivingWorld } from "./reviving-world.ts";

type MakeReplica = (options: ReplicationOptions, ports: ProtocolPorts) => ReplicationProtocol;

interface RevivalSeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  readonly replicas?: number | undefined;
  readonly variant?: ReplicationVariant | undefined;
  readonly events?: number | undefined;
  readonly often?: readonly string[] | undefined;
  readonly listener?: ((line: string) => void) | undefined;
  /** So many of the lost come back; all unless given. */
  readonly spares?: number | undefined;
  /** For tests of what each part is good for. */
  readonly makeReplica?: MakeReplica | undefined;
  /** How replicas compare all messages; they do not unless given. */
  readonly comparing?: ComparedBy | undefined;
  /** Do replicas go on elsewhere while they live? Unless given, in one of three seeds. */
  readonly moves?: boolean | undefined;
}

export interface RevivalOutcome extends SeedOutcome {
  readonly clones: RevivingWorld["counts"];
  readonly moves: RevivingWorld["moves"];
  /** Deaths of sources and of clones while a clone was being made. */
  readonly deathsOf: { readonly source: number; readonly clone: number };
  readonly duplicates: number;
}

const eventsMax = 5_000_000;
/** One of so many seeds is of the mirror protocol. */
const mirrorEvery = 4;
/** And in so many a source is copied before it is asked, which may take as long as a small program. */
const copiedEvery = 5;
/** In so many replicas go on elsewhere. */
const movedEvery = 3;

export function runRevivalSeed(options: RevivalSeedOptions): RevivalOutcome {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([1, 2, 2, 3, 4, 5]);
  const replicas = options.replicas ?? random.pick([2, 2, 2, 3, 3, 4]);
  const { boards: _, ...drawn } = randomWorld(random, ranks);
  const cost = { ...drawn.cost, inFlightAtCrash: random.pick(["lost", "delivered", "either"] as const) };
  const variant = options.variant ?? (options.seed % mirrorEvery === 0 ? "mirror" : "parallel");
  const script = generate(random.fork(), {
    ranks,
    events: options.events ?? random.pick([10, 40, 100]),
    eagerBytesMax: cost.eagerBytesMax!,
    often: options.often,
    deaths: "none",
    // Each process would have files and input of its own here: what one replica does for the others is tested elsewhere.
    without: ["files", "shared files", "input"],
    mayCancelSend: () => false,
    takesAnySource: variant !== "mirror",
  });
  const copiesBytesMax = random.pick([0, 300, 20_000, 16 << 20]);
  const plan = new Array<number>(ranks).fill(replicas);
  return runRevivals({
    plan,
    script,
    // An image has the addresses of its process: every process has the first place of a node, or every rank the same.
    world: { ...drawn, cost, nodes: random.pick([ranks * replicas, replicas]), eventsMax },
    random: random.fork(),
    delayNsMax: random.pick([0, 2_000, 200_000]),
    imageNsMax: random.pick([0, 10_000, 500_000]),
    copyNsMax: options.seed % copiedEvery === 0 ? 300_000 : 0,
    makeReplica: options.makeReplica ?? ((given, ports) => replicaOfVariant(variant, given, ports)),
    comparing: options.comparing,
    copiesBytesMax,
    listener: options.listener,
    places: options.spares === undefined ? undefined : new SpareNodes(options.spares, 0),
    trouble: new RandomTrouble(random, options.seed, options.moves ?? options.seed % movedEvery === 0),
  });
}

/** What goes wrong, and when. */
interface Trouble {
  begin(ports: TroublePorts): void;
  happens(moment: CloneMoment, attempt: CloneAttempt, ports: TroublePorts): void;
}

interface TroublePorts {
  readonly world: World;
  /** That process dies then, unless it is the only one of its rank, or is dead already. */
  kill(process: number, timeNs: number): void;
  /** It shall go on elsewhere from then on. */
  move(process: number, timeNs: number): void;
  numberOf(rank: number, replica: number): number;
}

class RandomTrouble implements Trouble {
  readonly #random: Random;
  readonly #seed: number;
  readonly #spanNs: number;
  #left: number;
  readonly #moves: boolean;

  constructor(random: Random, seed: number, moves: boolean) {
    this.#moves = moves;
    this.#random = random;
    this.#seed = seed;
    this.#spanNs = random.pick([5_000, 50_000, 200_000, 2_000_000]);
    this.#left = random.pick([1, 2, 4, 8]);
  }

  begin({ world, kill, move }: TroublePorts): void {
    planStops(world, this.#seed);
    const random = this.#random;
    if (this.#moves) {
      for (let moves = random.pick([1, 2, 4, 8]); moves > 0; moves--) {
        move(random.pick(world.processes).number, random.below(this.#spanNs));
      }
    }
    for (let tries = random.pick([1, 1, 2, 4]); tries > 0; tries--) {
      const first = random.pick(world.processes);
      const isNode = random.chance(0.3);
      const timeNs = random.below(this.#spanNs);
      for (const { number, node } of world.processes) {
        if (isNode ? node === first.node : number === first.number) kill(number, timeNs);
      }
    }
  }

  happens(_moment: CloneMoment, { clone, source }: CloneAttempt, { world, kill, numberOf }: TroublePorts): void {
    const random = this.#random;
    if (this.#left === 0 || !random.chance(0.3)) return;
    this.#left--;
    const other = random.pick(world.processes).number;
    const victim = random.pick([numberOf(clone.rank, source), numberOf(clone.rank, clone.replica), other]);
    kill(victim, world.nowNs + random.below(random.pick([1, 5_000, 100_000])));
  }
}

interface RevivalsSetup {
  readonly plan: readonly number[];
  readonly script: Script;
  readonly world: Omit<WorldOptions, "replicas" | "protocol" | "crashed" | "hasImages" | "listener">;
  readonly random: Random;
  readonly delayNsMax: number;
  readonly imageNsMax: number;
  readonly copyNsMax?: number | undefined;
  readonly makeReplica: MakeReplica;
  readonly comparing?: ComparedBy | undefined;
  readonly copiesBytesMax?: number;
  readonly listener?: ((line: string) => void) | undefined;
  readonly places?: SpareNodes | undefined;
  readonly trouble: Trouble;
}

export function runRevivals(setup: RevivalsSetup): RevivalOutcome {
  const { plan, script, trouble, copiesBytesMax, listener } = setup;
  const deathsOf = { source: 0, clone: 0 };
  let deaths = 0;
  const suspicions: Suspicion[] = [];
  const comparing = {
    comparing: setup.comparing ?? null,
    suspect: (suspicion: Suspicion): void => void suspicions.push(suspicion),
  };
  let present: CloneAttempt | null = null;
  const there = new RevivingWorld({
    ...setup,
    world: { ...setup.world, ...(listener === undefined ? {} : { listener }) },
    newProtocol: (name, ports) =>
      setup.makeReplica(
        {
          ...name,
          membership: new Membership(plan, true),
          ...comparing,
          ...(copiesBytesMax === undefined ? {} : { copiesBytesMax }),
        },
        ports,
      ),
    happens: (moment, attempt) => {
      present = moment === "back" || moment === "given up" ? null : attempt;
      trouble.happens(moment, attempt, ports);
    },
  });
  const { world } = there;
  const ports: TroublePorts = {
    world,
    numberOf: (rank, replica) => replica * plan.length + rank,
    move: (number, timeNs) => world.plan(timeNs, () => there.move(number)),
    kill: (number, timeNs) => {
      world.plan(timeNs, () => {
        const { rank, state } = world.processes[number]!;
        const living = world.processes.filter((other) => other.rank === rank && other.state !== "dead");
        if (state === "dead" || living.length < 2) return;
        deaths++;
        const name = world.nameOf(number);
        if (present?.clone.rank === rank && present.source === name.replica) deathsOf.source++;
        if (present?.clone.rank === rank && present.clone.replica === name.replica) deathsOf.clone++;
        world.crash(number);
      });
    },
  };
  trouble.begin(ports);
  const violations = run(world);
  const replicas = Array.from({ length: Math.max(...plan) }, (_, replica) => replica);
  const observations = replicas.map((replica) => there.observationOf(replica));
  if (violations.length === 0) {
    const outsides = replicas.map(() => there.outside);
    violations.push(...judgeWorlds(world, { script, observations, outsides, firstPosted: there.clock.firstPosted }));
  }
  violations.push(...suspicions.map((found) => ({ invariant: "no false alarms", what: JSON.stringify(found) })));
  const living = world.processes.filter(({ state }) => state !== "dead");
  return {
    violations,
    hash: world.trace.hash,
    ranks: plan.length,
    events: world.trace.events,
    messages: script.messages.length,
    collectives: script.collectives.length,
    deaths,
    gaveUp: 0,
    marks: marksOf(world, observations[0]!),
    clones: there.counts,
    moves: there.moves,
    deathsOf,
    duplicates: living.reduce((sum, { number }) => sum + there.protocolOf(number).report().duplicates, 0),
  };
}

function run(world: World): Violation[] {
  try {
    world.run();
    return [];
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [{ invariant: "nothing throws", what }];
  }
}
