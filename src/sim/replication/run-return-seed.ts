/**
 * From a seed to a job of replicas that goes back to a checkpoint of one world (R8): a random send-deterministic program; deaths that leave one world whole; all of
 * that world come to rest at any moment, are captured and go on; later everything is lost. Their images begin again in another world, in which all other replicas
 * are dead, and come to the right answer: nothing is received, printed or missing twice.
 *
 * Where messages are compared all worlds are captured together (ADR 69), and all of them go on: also when bits of one have flipped, and two replicas differ.
 */
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import type { Suspicion } from "../../core/ft/replication/comparing/message-comparison.ts";
import { Membership } from "../../core/ft/replication/membership.ts";
import type { ComparedBy } from "../../core/ft/replication/options.ts";
import type { ReplicationOptions, ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { replicaOfVariant } from "../../core/ft/replication/variants.ts";
import { Settling } from "../../core/process/settling.ts";
import { generate } from "../generator/generator.ts";
import { interpret, type Rests } from "../interpreter/interpreter.ts";
import { ScriptState } from "../interpreter/script-state.ts";
import { marksOf, type SeedOutcome, type Violation } from "../judge.ts";
import { LogicalClock, Observation } from "../observation.ts";
import { atOnce, type Outside } from "../outside/outside.ts";
import { PrintedOutput } from "../outside/printed-output.ts";
import { RankFiles } from "../outside/rank-files.ts";
import { Random } from "../random.ts";
import { randomWorld } from "../random-world.ts";
import { rankImageOf, restoreRank, type SimRankImage } from "../recovery/rank-image.ts";
import type { Script } from "../script/script.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { World, type WorldOptions } from "../world.ts";
import { Flips } from "./flips.ts";
import { judgeWorlds } from "./judge-worlds.ts";
import { isOwn } from "./run-comparing-seed.ts";

type MakeReplica = (options: ReplicationOptions, ports: ProtocolPorts) => ReplicationProtocol;

interface ReturnSeedOptions {
  readonly seed: number;
  /** Otherwise the seed decides. */
  readonly ranks?: number | undefined;
  readonly replicas?: number | undefined;
  readonly events?: number | undefined;
  readonly often?: readonly string[] | undefined;
  readonly listener?: ((line: string) => void) | undefined;
  /** For tests of what each part is good for: it is left out. */
  readonly leavesOut?: ReturnPart | undefined;
  /** How messages are compared; they are not unless given. */
  readonly comparing?: ComparedBy | undefined;
}

/** The world comes to rest before it is captured, and sends nothing more meanwhile; its processes are told that all others are dead. */
export type ReturnPart = "the rest" | "the wait of what is sent" | "the deaths" | "the rest of other worlds";

interface ReturnOutcome extends SeedOutcome {
  /** The world was captured; and it went back, because the job had not come to its end by then. */
  readonly captured: boolean;
  readonly wentBack: boolean;
  /** Messages that came again in the second run. */
  readonly duplicates: number;
  /** Where messages are compared: one was flipped; replicas were found to differ, before the job went back and afterwards. */
  readonly flipped: boolean;
  readonly disputed: readonly [boolean, boolean];
}

const eventsMax = 5_000_000;
/** A program that has come to its end does not rest: the attempt is given up. */
const patienceNs = 5_000_000;

/** Everything is lost. */
class AllLost extends Error {}

export function runReturnSeed(options: ReturnSeedOptions): ReturnOutcome {
  const random = new Random(options.seed);
  const ranks = options.ranks ?? random.pick([1, 2, 2, 3, 4, 5]);
  const replicas = options.replicas ?? random.pick([2, 2, 3]);
  const { boards: _, ...drawn } = randomWorld(random, ranks);
  const cost = { ...drawn.cost, inFlightAtCrash: random.pick(["lost", "delivered", "either"] as const) };
  const script = generate(random.fork(), {
    ranks,
    events: options.events ?? random.pick([10, 40, 100]),
    eagerBytesMax: cost.eagerBytesMax!,
    often: options.often,
    deaths: "none",
    // Each process would have files and input of its own here.
    without: ["files", "shared files", "input"],
    mayCancelSend: () => false,
    takesAnySource: true,
  });
  const copiesBytesMax = random.pick([0, 300, 20_000, 16 << 20]);
  const plan = new Array<number>(ranks).fill(replicas);
  const world = { ...drawn, cost, nodes: random.pick([ranks * replicas, replicas]), eventsMax };
  const flips =
    options.comparing === undefined
      ? undefined
      : flipsOf(new Random(options.seed), ranks, replicas, () => job.isCaptured);
  const job: ReturningJob = new ReturningJob({
    plan,
    script,
    world: options.listener === undefined ? world : { ...world, listener: options.listener },
    make: (given, ports) => replicaOfVariant("parallel", { ...given, copiesBytesMax }, ports),
    leavesOut: options.leavesOut,
    comparing: options.comparing,
    flips,
  });
  const captured = random.below(replicas);
  const spanNs = random.pick([5_000, 50_000, 500_000]);
  return job.run({
    captured,
    captureNs: random.below(spanNs),
    deaths: Array.from({ length: options.comparing !== undefined ? 0 : random.below(3) }, () => ({
      rank: random.below(ranks),
      replica: (captured + 1 + random.below(replicas - 1)) % replicas,
      timeNs: random.below(spanNs),
    })),
    // From the last capture on.
    lostAfterNs: random.below(
      options.comparing === undefined ? random.pick([1, 5_000, 100_000]) : random.pick([1, 100_000, 100_000_000]),
    ),
  });
}

/** Most programs have bits that flip, many of them when all have been captured. */
function flipsOf(random: Random, ranks: number, replicas: number, isCaptured: () => boolean): Flips {
  const mayFlip = random.chance(0.7) ? isCaptured : () => true;
  const plan = {
    rank: random.below(ranks),
    replica: random.below(replicas),
    message: random.pick([-1, 0, 0, 1, 3, 10]),
    bits: random.pick([1, 1, 2, 8]),
    where: random.pick(["memory", "way"] as const),
  };
  return new Flips(plan, random.fork(), mayFlip);
}

interface JobOptions {
  readonly plan: readonly number[];
  readonly script: Script;
  readonly world: Omit<WorldOptions, "replicas" | "protocol" | "crashed" | "hasImages">;
  readonly make: MakeReplica;
  readonly leavesOut: ReturnPart | undefined;
  readonly comparing: ComparedBy | undefined;
  readonly flips: Flips | undefined;
}

interface Trouble {
  /** The world that is captured, and when it is told to rest. */
  readonly captured: number;
  readonly captureNs: number;
  /** Of replicas in other worlds. */
  readonly deaths: readonly { readonly rank: number; readonly replica: number; readonly timeNs: number }[];
  readonly lostAfterNs: number;
}

class ReturningJob {
  readonly #options: JobOptions;
  readonly #clock = new LogicalClock();
  readonly #outside: Outside;
  #world: World;
  #protocols: ReplicationProtocol[] = [];
  #states: (ScriptState | undefined)[] = [];
  /** By process of the world that is captured. */
  readonly #images = new Map<number, SimRankImage>();
  /** Replicas have been found to differ, and nobody can tell who is right; in which run. */
  readonly #disputed: [boolean, boolean] = [false, false];
  #isAfter = false;
  /** Is that world to rest? */
  #isWanted = false;
  #isOver = false;

  constructor(options: JobOptions) {
    this.#options = options;
    this.#world = this.#newWorld();
    const { length: ranks } = options.plan;
    this.#outside = atOnce(new PrintedOutput(ranks), new RankFiles(ranks, () => this.#world.nowNs));
  }

  #newWorld(isAfter = false): World {
    const { plan, world, make, comparing = null, flips } = this.#options;
    this.#protocols = [];
    this.#isAfter = isAfter;
    return new World({
      ...world,
      replicas: plan,
      hasImages: true,
      // Those who live are told by `#back`, before they begin.
      ...(isAfter && comparing === null ? { crashed: () => {} } : {}),
      protocol: (process) => (ports) => {
        const place = { rank: process % plan.length, replica: Math.floor(process / plan.length) };
        const suspect = (suspicion: Suspicion): void => this.#suspect(suspicion);
        const given = { ...place, membership: new Membership(plan), comparing, suspect };
        const made = flips?.make(make, given, ports) ?? make(given, ports);
        this.#protocols[process] = made;
        return made;
      },
    });
  }

  /** As the job does: whoever is accused is ended; where nobody can be, it goes back, once. */
  #suspect({ rank, accused }: Suspicion): void {
    const world = this.#world;
    const { length: ranks } = this.#options.plan;
    if (accused >= 0) world.planCrash(world.nowNs + world.cost.detectionNs, accused * ranks + rank);
    else {
      this.#disputed[this.#isAfter ? 1 : 0] = true;
      throw new AllLost();
    }
  }

  #newState(process: SimProcess): ScriptState {
    const observation = new Observation(this.#clock);
    return new ScriptState(this.#options.script, process, {
      observation,
      witness: null,
      outside: this.#outside,
      hasImages: true,
    });
  }

  get isCaptured(): boolean {
    return this.#images.size === this.#world.processes.length;
  }

  run({ captured, captureNs, deaths, lostAfterNs }: Trouble): ReturnOutcome {
    const { plan } = this.#options;
    const first = this.#world;
    const isTogether = this.#options.comparing !== undefined;
    const members = isTogether
      ? first.processes.map(({ number }) => number)
      : plan.map((_, rank) => captured * plan.length + rank);
    for (const process of first.processes) {
      this.#states[process.number] = this.#newState(process);
      const rests = members.includes(process.number) ? this.#restsOf(process.number, members, lostAfterNs) : null;
      first.start(process.number, () => interpret(this.#states[process.number]!, rests));
    }
    for (const { rank, replica, timeNs } of deaths) first.planCrash(timeNs, replica * plan.length + rank);
    first.plan(captureNs, () => this.#capture(members));
    const before = this.#play(captured);
    const isCaptured = this.#images.size === members.length;
    const isLost = before === null && isCaptured;
    const violations = this.#unforced(before ?? (isCaptured ? this.#back(captured, members) : []));
    const { script } = this.#options;
    const world = this.#world;
    const living = world.processes.filter(({ state }) => state !== "dead");
    return {
      violations,
      hash: isLost ? `${first.trace.hash}${world.trace.hash}` : first.trace.hash,
      ranks: plan.length,
      events: isLost ? first.trace.events + world.trace.events : first.trace.events,
      messages: script.messages.length,
      collectives: script.collectives.length,
      deaths: deaths.length,
      gaveUp: 0,
      marks: marksOf(world, this.#observationOf(captured)),
      captured: isCaptured,
      wentBack: isLost,
      duplicates: living.reduce((sum, { number }) => sum + this.#protocols[number]!.report().duplicates, 0),
      flipped: (this.#options.flips?.done.length ?? 0) > 0,
      disputed: this.#disputed,
    };
  }

  /** Without what a process itself sees whose memory is wrong. */
  #unforced(found: readonly Violation[]): Violation[] {
    const [flipped] = this.#options.flips?.done ?? [];
    return found.filter(({ what }) => flipped === undefined || !isOwn(flipped, what));
  }

  #observationOf(replica: number): Observation {
    const { length: ranks } = this.#options.plan;
    const states = this.#states.filter((_, process) => Math.floor(process / ranks) === replica);
    const observations = states.flatMap((state) => (state === undefined ? [] : [state.observation]));
    return Observation.of(observations, this.#clock);
  }

  /** Null: everything is lost. */
  #play(captured: number): Violation[] | null {
    const world = this.#world;
    try {
      world.run();
    } catch (error) {
      if (error instanceof AllLost) return null;
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return [{ invariant: "nothing throws", what }];
    }
    const { plan, script } = this.#options;
    const replicas = Array.from({ length: Math.max(...plan) }, (_, replica) => replica);
    const found = judgeWorlds(world, {
      script,
      observations: replicas.map((replica) => this.#observationOf(replica)),
      outsides: replicas.map(() => this.#outside),
      firstPosted: this.#clock.firstPosted,
    });
    // Marks of an attempt that was given up may be left, in the world that was to be captured.
    const isGivenUp = this.#isOver && this.#images.size < plan.length;
    const ofWorld = this.#options.comparing === undefined ? `world ${captured}: rank ` : "world ";
    const mayBeLeft = (what: string): boolean => isGivenUp && what.startsWith(ofWorld);
    return found.filter(({ what }) => !(mayBeLeft(what) && what.includes("has left")));
  }

  // The checkpoint

  #capture(members: readonly number[]): void {
    const world = this.#world;
    const isRunning = (process: number): boolean => {
      const { state } = world.processes[process]!;
      return state === "waiting" || state === "computing";
    };
    if (!members.every(isRunning)) return;
    this.#isWanted = true;
    this.#wakeAll(members);
    world.plan(world.nowNs + patienceNs, () => {
      this.#isOver = true;
      this.#isWanted = false;
      this.#wakeAll(members);
    });
  }

  #wakeAll(members: readonly number[]): void {
    for (const process of members) this.#world.wake(process);
  }

  #restsOf(process: number, members: readonly number[], lostAfterNs: number): Rests {
    const isWanted = (): boolean => this.#isWanted && !this.#images.has(process);
    return { isWanted, rest: () => this.#rest(process, members, lostAfterNs) };
  }

  *#rest(process: number, members: readonly number[], lostAfterNs: number): Steps {
    const state = this.#states[process]!;
    const sim = state.process;
    const world = this.#world;
    if (this.#options.leavesOut === "the rest of other worlds" && sim.core.protocol !== null)
      Object.defineProperty(sim.core.protocol, "rests", { value: null });
    const settling = new Settling(sim.core, undefined, 1);
    let rest = "moving";
    if (this.#options.leavesOut === "the wait of what is sent") sim.core.protocol?.settles(false);
    yield sim.settle("its world at rest", () => {
      rest = this.#options.leavesOut === "the rest" ? "quiet" : settling.advance();
      return rest !== "moving" || (!this.#isWanted && settling.giveUp());
    });
    if (rest === "quiet") {
      state.core.rememberNumbers();
      this.#images.set(process, rankImageOf(state, 0));
      const isLast = this.#images.size === members.length;
      if (isLast) {
        this.#isWanted = false;
        this.#wakeAll(members);
        world.plan(world.nowNs + lostAfterNs, () => {
          throw new AllLost();
        });
      }
      yield sim.still("the images of its world", () => !this.#isWanted);
    }
    sim.core.protocol?.settles(false);
    sim.core.collectives.arriveAgain();
  }

  // Back

  /** The images begin in a new world, whose other processes are dead. */
  #back(captured: number, members: readonly number[]): Violation[] {
    this.#world = this.#newWorld(true);
    this.#states = [];
    const world = this.#world;
    const absent = world.processes.filter(({ number }) => !members.includes(number)).map(({ number }) => number);
    for (const number of absent) world.crash(number);
    for (const number of members) {
      const process = world.processes[number]!;
      const state = this.#newState(process);
      this.#states[number] = state;
      restoreRank(state, this.#images.get(number)!);
      process.core.beginLife({ incarnation: 0, incarnations: [], data: undefined, caughtUp: () => {} });
      if (this.#options.leavesOut === "the deaths") continue;
      for (const dead of absent) process.core.peerFailed(world.nameOf(dead), 0);
    }
    for (const number of members) world.start(number, () => interpret(this.#states[number]!));
    return this.#play(captured) ?? [];
  }
}
