/**
 * The host of recovery (core/service/recovery.ts) in a simulated world, as real/job is for processes: it feeds it what happens, and
 * when, and carries out its orders after random delays. New lives begin where the dispatcher has placed them.
 */

import type { Death } from "../../core/service/outcome.ts";
import type { SetRestart } from "../../core/service/recovery.ts";
import { Recovery, type RecoveryOptions, type RecoveryPorts } from "../../core/service/recovery.ts";
import type { RecoveryState } from "../../core/service/recovery-state.ts";
import type { RankLife } from "../../core/service/takeover.ts";
import type { Random } from "../random.ts";
import type { SimProcess, SimState } from "../sim-process.ts";
import type { World } from "../world.ts";
import type { Order } from "./dispatcher-crashes.ts";
import { hasHalf } from "./half-received.ts";
import { Notices } from "./notices.ts";
import type { ProtocolParts } from "./protocol-parts.ts";
import { SimAlarm } from "./sim-alarm.ts";

interface RecoveryHostOptions extends Pick<RecoveryOptions, "checkpointPatienceMs" | "forLogsMsMin"> {
  readonly world: World;
  readonly setOf: readonly number[];
  readonly random: Random;
  /** Longest time that words between nodes and services take. */
  readonly delayNsMax: number;
  /** Longest time until ranks hear of deaths and returns. */
  readonly noticeNsMax: number;
  readonly restartNs: number;
  readonly parts: ProtocolParts;
}

interface RecoveryHostPorts
  extends Pick<RecoveryPorts, "record" | "stop" | "goOn" | "verify" | "drop" | "oldest" | "committed" | "happened"> {
  /** Is a node there on which the rank can begin? */
  hasPlace(rank: number): boolean;
  isOver(): boolean;
  /** Is there no dispatcher at the moment? */
  isDown(): boolean;
  /** Something is fed to the dispatcher's process, if there is one. */
  feed(act: () => void): void;
  /** The dispatcher gives an order. */
  order(): Order;
  /** May the dispatcher say anything to that rank? */
  isLinked(rank: number): boolean;
  /** From the node of a rank, in the order in which it is said; and from a node. */
  say(rank: number, hear: () => void): void;
  sayOf(node: number, hear: () => void): void;
  /** New lives of these ranks have begun. */
  begun(ranks: readonly number[]): void;
  caughtUp(rank: number): void;
  /** These ranks are lost, or have been moved; the present life of a rank has begun. */
  fallen(ranks: readonly number[]): void;
  began(rank: number): void;
  /** That rank must fall, with all its set. */
  fell(rank: number): void;
  /** The job cannot go on. */
  hopeless(problem: string): void;
  /** A set falls. */
  falls(set: number): void;
  /** Can the newest image of a set not be read? */
  isUnreadable(set: number, number: number): boolean;
  /** A new process is to become what the image of that checkpoint says, 0: the beginning; then its program shall begin. */
  prepare(process: SimProcess, set: number, checkpoint: number): void;
  start(process: SimProcess): void;
}

/** The order to begin the next life of a set, and what it says. */
interface RestartOrder extends Order {
  /** Recovery beside the dispatcher that gave the order. */
  readonly core: Recovery;
  readonly restart: SetRestart;
  /** By node: words of the protocol's part for the job. */
  readonly forNodes: ReadonlyMap<number, unknown>;
}

const nsPerMs = 1e6;

export class RecoveryHost {
  core: Recovery;
  /** Restarts of sets. */
  restarts = 0;
  /** How often rare things happened; tests that claim to exercise one look here. */
  readonly rare = {
    finishedFell: 0,
    fellInReplay: 0,
    severalSetsDown: 0,
    messagesBroken: 0,
    /** A rank that had a part of a message from another set. */
    fellWithHalf: 0,
    /** The dispatcher crashed when it had ordered a restart and that had not happened. */
    restartsLost: 0,
  };
  readonly #options: RecoveryHostOptions;
  readonly #ports: RecoveryHostPorts;
  readonly #world: World;
  readonly #notices: Notices;
  readonly #alarm: SimAlarm;
  /** The last life of each rank that has begun. */
  readonly #begun: number[];
  /** How many deaths the present life of each rank has heard of. */
  readonly #deathsHeard: number[];
  /** Ranks whose present life has not come as far as the one before. */
  readonly #behind = new Set<number>();
  /** Sets that have fallen and not begun again. */
  readonly #down = new Set<number>();

  constructor(options: RecoveryHostOptions, ports: RecoveryHostPorts) {
    const { world, setOf, random, noticeNsMax, parts } = options;
    this.#options = options;
    this.#ports = ports;
    this.#world = world;
    this.#notices = new Notices(world, random, noticeNsMax);
    this.#begun = Array.from(setOf, () => 0);
    this.#deathsHeard = Array.from(setOf, () => 0);
    this.core = this.#createCore();
    this.#alarm = new SimAlarm(world, {
      nextTimeMs: () =>
        ports.isOver() || ports.isDown()
          ? Number.POSITIVE_INFINITY
          : Math.min(this.core.nextTimeMs, parts.job.nextTimeMs),
      time: (nowMs) => {
        ports.feed(() => this.core.time(nowMs));
        parts.job.tick(nowMs);
      },
    });
  }

  #createCore(predecessor?: RecoveryState): Recovery {
    const { parts, setOf } = this.#options;
    const options = { ...this.#options, setOf, checkpointInterval: { kind: "never" } as const };
    return new Recovery(options, parts.job, this.#corePorts(), predecessor);
  }

  /** The dispatcher has crashed, and with it the protocol's part for the job, which keeps nothing: its preparations are for lives that never were. */
  dispatcherCrashed(): void {
    this.#notices.dispatcherCrashed();
    this.#options.parts.dispatcherCrashed();
  }

  /** A successor begins with this state. */
  takeOver(state: RecoveryState): void {
    this.core = this.#createCore(state);
    this.feed((nowMs) => this.core.takeOver(nowMs));
  }

  deathsHeard(rank: number): number {
    return this.#deathsHeard[rank]!;
  }

  #corePorts(): RecoveryPorts {
    const ports = this.#ports;
    return {
      record: (record) => ports.record(record),
      restart: (_, restarts) => this.#restart(restarts),
      hopeless: (_, problem) => ports.hopeless(problem),
      fell: (rank) => ports.fell(rank),
      stop: (set, number, kept) => ports.stop(set, number, kept),
      goOn: (set) => ports.goOn(set),
      verify: (set, number) => ports.verify(set, number),
      drop: (set, number) => ports.drop(set, number),
      oldest: (set, oldest) => {
        ports.oldest(set, oldest);
        if (oldest.number === 0) return;
        this.#options.parts.trimmed(set, oldest);
        for (const rank of this.#membersOf(set)) this.#trim(rank, oldest.number);
      },
      committed: (times, callsPassed) => ports.committed(times, callsPassed),
      recovered: () => {},
      happened: (event) => ports.happened(event),
      note: () => {},
    };
  }

  get nowMs(): number {
    return this.#world.nowNs / nsPerMs;
  }

  /** By rank. */
  get restartsOf(): readonly number[] {
    return this.#begun;
  }

  /** The last life of a rank that has begun. */
  incarnationOf(rank: number): number {
    return this.#begun[rank]!;
  }

  /** Something is told to the core or to the protocol's part for the job: they may want to be called at another time. */
  feed(tell: (nowMs: number) => void): void {
    if (this.#ports.isOver()) return;
    this.#ports.feed(() => tell(this.nowMs));
    this.#alarm.set();
  }

  #membersOf(set: number): number[] {
    const { setOf } = this.#options;
    return [...setOf.keys()].filter((rank) => setOf[rank] === set);
  }

  #trim(rank: number, number: number): void {
    const process = this.#world.processes[rank]!;
    this.#world.plan(this.#world.nowNs + this.#options.random.below(this.#options.delayNsMax), () => {
      if (process.state === "dead") return;
      process.core.protocol?.trimmedTo(number);
      this.#world.wake(rank);
    });
  }

  // Deaths

  /** A process has died. */
  crashed(rank: number, before: SimState): void {
    const process = this.#world.processes[rank]!;
    if (before === "finished") this.rare.finishedFell++;
    if (hasHalf(process, this.#options.setOf)) this.rare.fellWithHalf++;
    if (this.#behind.has(rank)) this.rare.fellInReplay++;
    this.#options.parts.crashed(rank);
  }

  /** The dispatcher has declared a death: the meant ranks outside of the set hear of it, once. */
  tell({ order, rank, incarnation }: Death, isMeant: (rank: number) => boolean): void {
    const { setOf } = this.#options;
    this.#notices.tell(
      this.#ports.order(),
      (other) => setOf[other] !== setOf[rank] && isMeant(other),
      (process) => {
        if (order < this.#deathsHeard[process.rank]!) return;
        this.#deathsHeard[process.rank] = order + 1;
        this.#world.network.know(process.rank, rank, incarnation + 1);
        process.core.peerFailed({ rank, replica: 0 }, incarnation);
        this.rare.messagesBroken += process.engine.envelopes.broken.from(rank).length;
      },
    );
  }

  /** These ranks, all of their sets, were lost together. */
  fallen(ranks: readonly number[]): void {
    const sets = new Set(ranks.map((rank) => this.#options.setOf[rank]!));
    for (const set of sets) {
      this.#ports.falls(set);
      this.#down.add(set);
    }
    if (this.#down.size > 1) this.rare.severalSetsDown++;
    this.#ports.fallen(ranks);
    this.feed((nowMs) => this.core.fallen(ranks, nowMs));
  }

  // The next life

  #restart(restarts: readonly SetRestart[]): void {
    const { random, restartNs } = this.#options;
    const order = this.#ports.order();
    const orders = restarts.map((restart): RestartOrder => {
      return { ...order, core: this.core, restart, forNodes: this.#forNodes(restart.members) };
    });
    this.#world.plan(this.#world.nowNs + random.below(restartNs + 1), () => {
      if (order.isLost()) this.rare.restartsLost++;
      if (order.isLost() || this.#ports.isOver()) return;
      for (const each of orders) this.#begin(each);
    });
  }

  /** By node: the words of the protocol's part for the job to the node of these ranks. */
  #forNodes(ranks: readonly number[]): Map<number, unknown> {
    const { placement } = this.#world;
    const nodes = new Set(ranks.map((rank) => placement[rank]!));
    const wordsFor = (node: number): unknown =>
      this.#options.parts.job.forNode(
        node,
        ranks.filter((rank) => placement[rank] === node),
      );
    return new Map([...nodes].map((node) => [node, wordsFor(node)]));
  }

  /** Members whose nodes are gone stay where they are: the dispatcher will hear of that, and their set falls again. */
  #begin(order: RestartOrder): void {
    const ports = this.#ports;
    const { set, members, incarnation, checkpoint, forRanks } = order.restart;
    const { incarnations } = order.core;
    const { parts } = this.#options;
    const { placement } = this.#world;
    const takes = new Set([...order.forNodes.keys()].filter((node) => order.isTakenBy(node)));
    const here = members.filter((rank) => ports.hasPlace(rank) && takes.has(placement[rank]!));
    // The set has fallen again since.
    if (here.length === 0 || incarnations[here[0]!] !== incarnation) return;
    if (checkpoint.number > 0 && ports.isUnreadable(set, checkpoint.number)) {
      const rank = here[0]!;
      if (!order.isLate())
        ports.sayOf(placement[rank]!, () => {
          this.feed(() => this.core.imageUnreadable(rank, checkpoint.number, "its image cannot be read"));
        });
      return;
    }
    // Members on nodes that live have not ended yet.
    for (const rank of here) this.#world.crash(rank);
    parts.begin(set, incarnation, order.forNodes.get(placement[here[0]!]!));
    this.#down.delete(set);
    this.restarts++;
    for (const rank of here) {
      this.#begun[rank] = incarnation;
      this.#deathsHeard[rank] = order.deathsDeclared();
      this.#behind.add(rank);
    }
    ports.begun(here);
    const processes = here.map((rank) => this.#world.revive(rank, incarnations, parts.newProtocol(rank)));
    for (const process of processes) {
      ports.prepare(process, set, checkpoint.number);
      const caughtUp = (): void => this.#caughtUp(process, incarnation);
      process.core.beginLife({ incarnation, incarnations, data: forRanks, caughtUp });
      ports.start(process);
    }
    // A successor hears of the life when the node answers.
    if (!order.isLate()) this.#return(incarnation, here);
  }

  /** All ranks outside of the set hear of the new lives, and the core hears that they have begun. */
  #return(incarnation: number, ranks: readonly number[]): void {
    const lives = ranks.map((rank) => ({ rank, incarnation }));
    this.returned(lives, (rank) => this.#ports.isLinked(rank));
    for (const rank of ranks) {
      this.#ports.say(rank, () => {
        this.feed((nowMs) => {
          this.core.began(rank, incarnation, nowMs);
          if (incarnation === this.core.incarnations[rank]) this.#ports.began(rank);
        });
      });
    }
  }

  /** The meant ranks outside of their sets hear that these lives have begun. */
  returned(lives: readonly RankLife[], isMeant: (rank: number) => boolean): void {
    const { setOf } = this.#options;
    const order = this.#ports.order();
    for (const { rank, incarnation } of lives) {
      this.#notices.tell(
        order,
        (other) => setOf[other] !== setOf[rank] && isMeant(other),
        (process) => {
          this.#world.network.know(process.rank, rank, incarnation);
          process.core.peerReturned({ rank, replica: 0 }, incarnation);
        },
      );
    }
  }

  #caughtUp({ rank, isSuspect }: SimProcess, incarnation: number): void {
    if (isSuspect) return;
    if (this.#begun[rank] === incarnation) this.#behind.delete(rank);
    this.#ports.caughtUp(rank);
    this.caughtUp(rank, incarnation);
  }

  /** A life has come as far as the one before, or its program is over. */
  caughtUp(rank: number, incarnation: number): void {
    this.#ports.say(rank, () => this.feed((nowMs) => this.core.caughtUp(rank, incarnation, nowMs)));
  }
}
