/**
 * From a seed to judged worlds of replicas: a random send-deterministic program, deaths of processes and nodes that leave each rank one
 * replica, and every world comes to the same, known answer.
 */

import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import type { Suspicion } from "../../core/ft/replication/comparing/message-comparison.ts";
import type { SendDivergence } from "../../core/ft/replication/comparing/send-comparison.ts";
import { Membership } from "../../core/ft/replication/membership.ts";
import type { ComparedBy, ReplicationVariant } from "../../core/ft/replication/options.ts";
import type { ReplicationOptions, ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import type { ReplicatedCounts } from "../../core/ft/replication/report.ts";
import { replicaOfVariant } from "../../core/ft/replication/variants.ts";
import type { CostModel } from "../cost-model.ts";
import { generate } from "../generator/generator.ts";
import { interpret } from "../interpreter/interpreter.ts";
import { ScriptState } from "../interpreter/script-state.ts";
import { marksOf, type SeedOutcome, type Violation } from "../judge.ts";
import { Observation } from "../observation.ts";
import { atOnce } from "../outside/outside.ts";
import { PrintedOutput } from "../outside/printed-output.ts";
import { RankFiles } from "../outside/rank-files.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import type { Script } from "../script/script.ts";
import { World, type WorldOptions } from "../world.ts";
import type { Flips } from "./flips.ts";
import { judgeWorlds } from "./judge-worlds.ts";
import { LedHistories } from "./led-histories.ts";
import { planStops } from "./node-stops.ts";

export type MakeReplica = (options: ReplicationOptions, ports: ProtocolPorts) => ReplicationProtocol;

export interface ReplicationSeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  readonly replicas?: number | undefined;
  readonly variant?: ReplicationVariant | undefined;
  readonly events?: number | undefined;
  readonly deaths?: "none" | undefined;
  /** Replicas compare whole messages, and these bits are flipped; not so unless given. */
  readonly flips?: Flips | undefined;
  /** How they compare them; by hashes unless given. */
  readonly comparing?: ComparedBy | undefined;
  /** May some ranks have fewer replicas than others? */
  readonly isPartial?: false | undefined;
  /** Kinds of actions that the program has not. */
  readonly without?: readonly string[] | undefined;
  readonly often?: readonly string[] | undefined;
  readonly listener?: (line: string) => void;
  /** For tests of what each part of the protocol is good for. */
  readonly makeReplica?: MakeReplica | undefined;
  readonly newMembership?: ((plan: readonly number[]) => Membership) | undefined;
}

export interface ReplicatedOutcome extends SeedOutcome {
  /** Of all processes that live in the end. */
  readonly counts: ReplicatedCounts;
  /** Replicas that were found to send different messages. */
  readonly divergences: readonly SendDivergence[];
  /** Runs of messages that they have compared. */
  readonly runsCompared: number;
  /** What receivers have found out, where whole messages are compared. */
  readonly suspicions: readonly Suspicion[];
}

const eventsMax = 5_000_000;
/** One of so many seeds is of the mirror protocol, and the one before it follows a leader. */
const variantEvery = 4;

export function runReplicationSeed(options: ReplicationSeedOptions): ReplicatedOutcome {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([1, 2, 2, 3, 4, 5, 6, 7]);
  const replicas = options.replicas ?? random.pick([2, 2, 2, 3, 3, 4]);
  const plan = options.isPartial === false ? new Array<number>(ranks).fill(replicas) : planOf(random, ranks, replicas);
  const { boards: _, ...drawn } = randomWorld(random, ranks);
  const cost: Partial<CostModel> = {
    ...drawn.cost,
    inFlightAtCrash: random.pick(["lost", "delivered", "either"] as const),
  };
  const copiesBytesMax = random.pick([0, 300, 20_000, 16 << 20]);
  const variant = options.variant ?? variantOf(options.seed);
  const script = generate(random.fork(), {
    ranks,
    events: options.events ?? random.pick([10, 40, 100]),
    eagerBytesMax: cost.eagerBytesMax!,
    often: options.often,
    deaths: "none",
    without: [...withoutAlways, ...(variant === "leader" ? withoutLeader : []), ...(options.without ?? [])],
    // The sender would decide by what it sees, and send what it decided.
    mayCancelSend: () => false,
    takesAnySource: variant !== "mirror",
  });
  const run = {
    plan,
    script,
    world: {
      ...drawn,
      eagerLimit: variant === "leader" ? sameToItself(drawn.eagerLimit, ranks) : drawn.eagerLimit,
      cost,
      nodes: random.between(1, ranks * Math.max(...plan)),
    },
    copiesBytesMax,
    makeReplica: options.makeReplica ?? makerOf(variant),
    flips: options.flips,
    comparing: options.comparing,
    mustSeeTheSame: variant === "leader",
    newMembership: options.newMembership,
    listener: options.listener,
  };
  const isPeaceful = options.deaths === "none" || random.chance(0.1);
  const planDeathsAndStops = (world: World): void => {
    if (!isPeaceful) planDeaths(world, plan, random);
    planStops(world, options.seed);
  };
  return runReplicas({ ...run, planDeaths: planDeathsAndStops });
}

/** Each world has files of its own here, and members of a file are in several worlds when one has died. */
const withoutAlways: readonly string[] = ["shared files"];
/** A follower may have the message of a receive that its leader cancels: that ends the job, and says so. */
const withoutLeader: readonly string[] = ["receives that are cancelled while their message comes"];

/** Messages to oneself go through the memory of one's own node, of any replica: a program may see whether a send of one is complete. */
function sameToItself(limit: WorldOptions["eagerLimit"], ranks: number): WorldOptions["eagerLimit"] {
  if (limit === undefined) return undefined;
  return (sender, to) => limit(sender, sender.rank % ranks === to % ranks ? to % ranks : to);
}

function variantOf(seed: number): ReplicationVariant {
  const place = seed % variantEvery;
  return place === 0 ? "mirror" : place === variantEvery - 1 ? "leader" : "parallel";
}

const makerOf =
  (variant: ReplicationVariant): MakeReplica =>
  (options, ports) =>
    replicaOfVariant(variant, options, ports);

/** How many processes play each rank: mostly all alike, sometimes only some ranks have replicas. */
function planOf(random: Random, ranks: number, replicas: number): number[] {
  const isPartial = random.chance(0.2);
  return Array.from({ length: ranks }, () => (isPartial ? random.between(1, replicas) : replicas));
}

interface ReplicasSetup {
  /** By rank: how many processes play it. */
  readonly plan: readonly number[];
  readonly script: Script;
  readonly world: Omit<WorldOptions, "replicas" | "protocol">;
  readonly copiesBytesMax?: number;
  readonly makeReplica?: MakeReplica | undefined;
  readonly newMembership?: ((plan: readonly number[]) => Membership) | undefined;
  readonly listener?: ((line: string) => void) | undefined;
  /** Replicas of a rank see the same, whatever the order of messages: they follow a leader. */
  readonly mustSeeTheSame?: boolean;
  readonly flips?: Flips | undefined;
  readonly comparing?: ComparedBy | undefined;
  planDeaths(world: World): void;
}

export function runReplicas(setup: ReplicasSetup): ReplicatedOutcome {
  const { plan, script, copiesBytesMax, listener, makeReplica = makerOf("parallel") } = setup;
  const { newMembership = (all) => new Membership(all) } = setup;
  const ranks = plan.length;
  const histories = new LedHistories(ranks);
  const protocols: ReplicationProtocol[] = [];
  const divergences: SendDivergence[] = [];
  const diverged = (divergence: SendDivergence): void => void divergences.push(divergence);
  const suspicions: Suspicion[] = [];
  /** As the dispatcher does: whoever is accused is ended; where nobody can be, the job is. */
  const suspect = (suspicion: Suspicion): void => {
    suspicions.push(suspicion);
    const { rank, accused } = suspicion;
    if (accused >= 0) world.planCrash(world.nowNs + world.cost.detectionNs, accused * ranks + rank);
  };
  const world: World = new World({
    ...setup.world,
    replicas: plan,
    eventsMax,
    protocol: (process) => (ports) => {
      const place = { rank: process % ranks, replica: Math.floor(process / ranks) };
      const comparing = { comparing: setup.flips === undefined ? null : (setup.comparing ?? "hash"), suspect };
      const options = { ...place, membership: newMembership(plan), diverged, ...comparing, ...bound(copiesBytesMax) };
      const watched = setup.mustSeeTheSame ? histories.watch(process, ports) : ports;
      const made = setup.flips?.make(makeReplica, options, watched) ?? makeReplica(options, watched);
      protocols[process] = made;
      return made;
    },
    ...(listener === undefined ? {} : { listener }),
  });
  const replicas = Math.max(...plan);
  const observations = Array.from({ length: replicas }, () => new Observation());
  const outsides = observations.map(() => atOnce(new PrintedOutput(ranks), new RankFiles(ranks, () => world.nowNs)));
  world.startAll((process) => {
    const { replica } = world.nameOf(process.number);
    const witness = setup.mustSeeTheSame ? histories.witness(process.number) : null;
    if (setup.mustSeeTheSame) process.engine.tracer = histories.tracer(process.number);
    const seen = { observation: observations[replica]!, witness, outside: outsides[replica]! };
    return interpret(new ScriptState(script, process, seen));
  });
  setup.planDeaths(world);
  const violations = run(world);
  const isStopped = suspicions.some(({ accused }) => accused < 0);
  for (const { rank, replica, where } of setup.flips?.done ?? []) {
    if (where === "memory") observations[replica]!.distrust(rank);
  }
  if (violations.length === 0 && !isStopped) {
    violations.push(...judgeWorlds(world, { script, observations, outsides }));
  }
  if (setup.mustSeeTheSame) violations.push(...histories.judge(world));
  violations.push(
    ...divergences.map((found) => ({ invariant: "replicas send the same", what: JSON.stringify(found) })),
  );
  const living = world.processes.filter(({ state }) => state !== "dead");
  return {
    violations,
    hash: world.trace.hash,
    ranks,
    events: world.trace.events,
    messages: script.messages.length,
    collectives: script.collectives.length,
    deaths: plan.reduce((sum, there) => sum + there, 0) - living.length,
    gaveUp: 0,
    marks: marksOf(world, observations[0]!),
    divergences,
    suspicions,
    runsCompared: protocols.reduce((sum, protocol) => sum + protocol.runsCompared, 0),
    counts: sumOf(living.map(({ number }) => protocols[number]!.report())),
  };
}

const bound = (copiesBytesMax: number | undefined): Pick<ReplicationOptions, "copiesBytesMax"> =>
  copiesBytesMax === undefined ? {} : { copiesBytesMax };

function run(world: World): Violation[] {
  try {
    world.run();
    return [];
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [{ invariant: "nothing throws", what }];
  }
}

function sumOf(reports: readonly ReplicatedCounts[]): ReplicatedCounts {
  const add = (key: keyof ReplicatedCounts): number => reports.reduce((sum, report) => sum + report[key], 0);
  return {
    sent: add("sent"),
    sentForOthers: add("sentForOthers"),
    acknowledgements: add("acknowledgements"),
    duplicates: add("duplicates"),
    compared: add("compared"),
    uncompared: add("uncompared"),
    comparedBytes: add("comparedBytes"),
  };
}

/** Processes and nodes, at moments of any density, as many as leave every rank one process. */
function planDeaths(world: World, plan: readonly number[], random: Random): void {
  const left = [...plan];
  const dying = new Set<number>();
  const spanNs = random.pick([5_000, 50_000, 200_000, 2_000_000]);
  const tries = random.pick([1, 2, 4, 20]);
  for (let i = 0; i < tries; i++) {
    const first = random.pick(world.processes);
    const isNode = random.chance(0.3);
    const falling = world.processes.filter(
      ({ number, node, state }) =>
        state !== "dead" && !dying.has(number) && (isNode ? node === first.node : number === first.number),
    );
    const after = [...left];
    for (const { rank } of falling) after[rank]!--;
    if (falling.length === 0 || after.some((there) => there < 1)) continue;
    left.splice(0, left.length, ...after);
    for (const { number } of falling) dying.add(number);
    const timeNs = random.below(spanNs);
    for (const { number } of falling) world.planCrash(timeNs, number);
  }
}
