/**
 * What follows in a simulated world under message logging when the dispatcher has declared a correlated set dead: its next life
 * begins with what the event logger has.
 */
import { type LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { PayloadMemoryOptions } from "../../core/ft/logging/payload-memory.ts";
import type { NewProtocol, ProtocolPorts } from "../../core/ft/protocol.ts";
import type { Checkpoint as Committed } from "../../core/service/checkpoint-server.ts";
import { EventLogger } from "../../core/service/event-logger.ts";
import type { Death } from "../../core/service/outcome.ts";
import type { RankLife } from "../../core/service/takeover.ts";
import { SetStream } from "../logging/set-stream.ts";
import type { Random } from "../random.ts";
import type { SimProcess, SimState } from "../sim-process.ts";
import type { World } from "../world.ts";
import type { CapturedLife, Checkpoint } from "./checkpoints.ts";
import type { Place } from "./dispatching.ts";
import { hasHalf } from "./half-received.ts";
import { Notices } from "./notices.ts";
import type { RankImage } from "./rank-image.ts";

export interface RecoveryOptions {
  readonly setOf: Int32Array;
  readonly random: Random;
  /** Up to so long takes everything that is said between nodes and services. */
  readonly delayNsMax: number;
  readonly restartNs: number;
  /** Another one than the real one, for tests that want to see it fail. */
  readonly newProtocol?: (options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol;
  /** What a set that has fallen goes on from; null: from the start of the program. */
  readonly newest?: (set: number) => Checkpoint | null;
  /** The event logger has got something of that set. */
  readonly logged?: (set: number) => void;
  /** The set has fallen. */
  readonly declared?: (set: number) => void;
  /** New lives of these ranks have begun; a life has come as far as the one before. */
  readonly begun: (ranks: readonly number[]) => void;
  /** How many deaths have been declared; and may the dispatcher say anything to that rank? */
  readonly deathsDeclared: () => number;
  readonly isLinked: (rank: number) => boolean;
  readonly caughtUp: (rank: number) => void;
  /** Bounds the payload log of a rank; it has no bound unless given. */
  readonly payloads?: (rank: number) => PayloadMemoryOptions | null;
  /** A new process is to become what the image says, if there is one; then its program shall begin. */
  readonly prepare: (process: SimProcess, image: RankImage | null) => void;
  readonly start: (process: SimProcess) => void;
}

/** One life of a set. */
interface SetLife {
  readonly set: number;
  readonly incarnation: number;
  readonly stream: SetStream;
  isOver: boolean;
  /** When what it sent last is at the event logger; and whether what travels gets there when it has fallen. */
  lastArrivalNs: number;
  readonly sendsSurvive: boolean;
}

export class Recovery {
  readonly logger = new EventLogger();
  readonly setOf: Int32Array;
  /** Restarts of sets. */
  restarts = 0;
  /** By rank. */
  readonly restartsOf: number[];
  /** How often rare things happened; tests that claim to exercise one look here. */
  readonly rare = {
    finishedFell: 0,
    fellInReplay: 0,
    severalSetsDown: 0,
    determinantsLost: 0,
    acknowledgementsLost: 0,
    messagesBroken: 0,
    /** A rank that had a part of a message from another set. */
    fellWithHalf: 0,
    loggerLost: 0,
    /** The dispatcher crashed when it had ordered a restart and that had not happened. */
    restartsLost: 0,
    /** The payload log of a rank had no room. */
    logFull: 0,
  };
  /** Called when a set has been restarted. */
  onRestart: (set: number) => void = () => {};
  readonly #options: RecoveryOptions;
  readonly #random: Random;
  readonly #lives = new Map<number, SetLife>();
  /** The present life of each rank, which may not have begun yet; and the last one that has begun. */
  readonly #incarnations: number[];
  readonly #begun: number[];
  #there: World = undefined as never;
  #notices: Notices = undefined as never;
  /** How many deaths the present life of each rank has heard of. */
  readonly #deathsHeard: number[];
  /** How many dispatchers have crashed. */
  #crashes = 0;
  /** To the event logger; how many there were before. */
  #isConnected = true;
  #connection = 0;

  constructor(options: RecoveryOptions) {
    this.#options = options;
    this.#random = options.random;
    this.setOf = options.setOf;
    this.#incarnations = Array.from(options.setOf, () => 0);
    this.#begun = Array.from(options.setOf, () => 0);
    this.restartsOf = this.#begun;
    this.#deathsHeard = Array.from(options.setOf, () => 0);
    for (const set of new Set(options.setOf)) this.#begin(set, 0, 0);
  }

  attach(world: World): void {
    this.#there = world;
    this.#notices = new Notices(world, this.#random, this.#options.delayNsMax);
  }

  membersOf(set: number): number[] {
    return [...this.setOf.keys()].filter((rank) => this.setOf[rank] === set);
  }

  protocol(rank: number): NewProtocol {
    const { setOf } = this;
    const { stream } = this.#lives.get(setOf[rank]!)!;
    const options = { rank, setOf, stream, payloads: this.#options.payloads?.(rank) ?? null };
    const { newProtocol } = this.#options;
    return (ports) => newProtocol?.(options, ports) ?? new LoggingProtocol(options, ports);
  }

  // A life of a set

  #begin(set: number, incarnation: number, position: number): SetLife {
    const life: SetLife = {
      ...{ set, incarnation, isOver: false, lastArrivalNs: 0, sendsSurvive: this.#random.chance(0.5) },
      stream: new SetStream(position, {
        later: (isUrgent, act) => this.#later(isUrgent ? 1_000 : this.#options.delayNsMax, life, act),
        travel: (act) => this.#travel(life, this.#ofConnection(act)),
        acknowledge: (act) => this.#later(this.#options.delayNsMax, life, this.#ofConnection(act)),
        append: (from, part) => {
          const end = this.logger.append(set, incarnation, from, part);
          this.#options.logged?.(set);
          return end;
        },
        changed: () => this.#wakeAll(set),
      }),
    };
    this.#lives.set(set, life);
    return life;
  }

  #later(delayNsMax: number, life: SetLife, act: () => void): void {
    this.#there.plan(this.#there.nowNs + this.#random.below(delayNsMax), () => {
      if (!life.isOver) act();
    });
  }

  #travel(life: SetLife, act: () => void): void {
    const timeNs = Math.max(life.lastArrivalNs, this.#there.nowNs + this.#random.below(this.#options.delayNsMax));
    life.lastArrivalNs = timeNs;
    this.#there.plan(timeNs, () => {
      if (!life.isOver || life.sendsSurvive) act();
    });
  }

  /** What is said to the event logger or by it is lost with the connection. */
  #ofConnection(act: () => void): () => void {
    const connection = this.#connection;
    const wasConnected = this.#isConnected;
    return () => {
      if (wasConnected && connection === this.#connection) act();
    };
  }

  /** The event logger cannot be reached for a while. It has what it has. */
  loseLogger(): void {
    this.#isConnected = false;
    this.rare.loggerLost++;
    const connection = ++this.#connection;
    this.#there.plan(this.#there.nowNs + this.#random.below(this.#options.restartNs + 1), () => {
      if (connection !== this.#connection) return;
      this.#isConnected = true;
      for (const { isOver, stream } of this.#lives.values()) if (!isOver) stream.reconnect();
    });
  }

  /** For checkpoints of that set. */
  capturedLife(set: number): CapturedLife {
    const life = this.#lives.get(set)!;
    const { logger } = this;
    return {
      set,
      members: this.membersOf(set),
      get isOver() {
        return life.isOver;
      },
      get born() {
        return life.stream.born;
      },
      isLogged: (position) => ((logger.end(set) - position) | 0) >= 0,
      travel: (act) => this.#travel(life, act),
      later: (delayNs, act) => this.#later(delayNs, life, act),
      wake: () => this.#wakeAll(set),
    };
  }

  #wakeAll(set: number): void {
    for (const rank of this.membersOf(set)) this.#there.wake(rank);
  }

  /** No image of that set that is older will be used: its logs need not reach back further. */
  trim(set: number, { number, position }: Committed): void {
    this.logger.trim(set, position);
    for (const rank of this.membersOf(set)) {
      const process = this.#there.processes[rank]!;
      this.#later(this.#options.delayNsMax, this.#lives.get(set)!, () => {
        if (process.state === "dead") return;
        process.core.protocol?.trimmedTo(number);
        this.#there.wake(rank);
      });
    }
  }

  // Deaths

  /** A process has died. */
  crashed(rank: number, before: SimState): void {
    const process = this.#there.processes[rank]!;
    if (before === "finished") this.rare.finishedFell++;
    if (hasHalf(process, this.setOf)) this.rare.fellWithHalf++;
    if ((process.core.protocol as LoggingProtocol).isReplaying) this.rare.fellInReplay++;
  }

  incarnationOf(rank: number): number {
    return this.#begun[rank]!;
  }

  deathsHeard(rank: number): number {
    return this.#deathsHeard[rank]!;
  }

  /** The dispatcher has crashed: restarts that it has ordered do not happen, and what it has said is not heard. */
  dispatcherCrashed(): void {
    this.#crashes++;
    this.#notices.lose();
  }

  /** The dispatcher has declared a death, and everybody outside of the set who is meant hears of it, once. */
  tell({ order, rank, incarnation }: Death, isMeant: (rank: number) => boolean): void {
    this.#notices.tell(
      (other) => this.setOf[other] !== this.setOf[rank] && isMeant(other),
      (process) => {
        if (order < this.#deathsHeard[process.rank]!) return;
        this.#deathsHeard[process.rank] = order + 1;
        this.#there.network.know(process.rank, rank, incarnation + 1);
        process.core.peerFailed(rank, incarnation);
        this.rare.messagesBroken += process.engine.brokenFrom(rank).length;
      },
    );
  }

  /** These ranks, all of their sets, have fallen, and begin their next life where the dispatcher has ordered it. */
  fallen(ranks: readonly number[], place: Place): void {
    const sets = [...new Set(ranks.map((rank) => this.setOf[rank]!))];
    for (const life of this.#lives.values()) if (life.isOver && !sets.includes(life.set)) this.rare.severalSetsDown++;
    this.rare.severalSetsDown += sets.length - 1;
    const orders = sets.map((set) => {
      const life = this.#lives.get(set)!;
      life.isOver = true;
      this.#options.declared?.(set);
      for (const rank of this.membersOf(set)) this.#incarnations[rank]!++;
      return { life, incarnation: this.#incarnations[this.membersOf(set)[0]!]! };
    });
    const { restartNs } = this.#options;
    const crashes = this.#crashes;
    this.#there.plan(this.#there.nowNs + this.#random.below(restartNs + 1), () => {
      if (crashes !== this.#crashes) {
        this.rare.restartsLost++;
        return;
      }
      for (const { life, incarnation } of orders) {
        // Fallen again before it has begun: another order says how it goes on.
        if (this.#incarnations[this.membersOf(life.set)[0]!] === incarnation) this.#restart(life, incarnation, place);
      }
    });
  }

  // The next life

  #restart({ set, stream }: SetLife, incarnation: number, place: Place): void {
    const known = this.logger.end(set);
    if (known !== stream.born) this.rare.determinantsLost++;
    if (known !== stream.stable) this.rare.acknowledgementsLost++;
    this.restarts++;
    const members = this.membersOf(set).filter(place);
    for (const rank of members) {
      // Members on nodes that live have not ended yet.
      this.#there.crash(rank);
      this.#begun[rank] = incarnation;
      this.#deathsHeard[rank] = this.#options.deathsDeclared();
    }
    const checkpoint = this.#options.newest?.(set) ?? null;
    const log = this.logger.fence(set, incarnation, checkpoint?.position ?? 0)!;
    this.#begin(set, incarnation, this.logger.end(set));
    const incarnations = [...this.#incarnations];
    this.#options.begun(members);
    const processes = members.map((rank) => this.#there.revive(rank, incarnations, this.protocol(rank)));
    for (const process of processes) {
      this.#options.prepare(process, checkpoint?.images.get(process.rank) ?? null);
      process.core.protocol?.begin({
        ...{ incarnation, incarnations, data: { log } },
        caughtUp: () => this.#options.caughtUp(process.rank),
      });
      this.#options.start(process);
    }
    this.returned(
      members.map((rank) => ({ rank, incarnation })),
      (rank) => this.#options.isLinked(rank),
    );
    this.onRestart(set);
  }

  /** Everybody outside of their sets who is meant hears that these lives have begun. */
  returned(lives: readonly RankLife[], isMeant: (rank: number) => boolean): void {
    for (const { rank, incarnation } of lives) {
      this.#notices.tell(
        (other) => this.setOf[other] !== this.setOf[rank] && isMeant(other),
        (process) => {
          this.#there.network.know(process.rank, rank, incarnation);
          process.core.peerReturned(rank, incarnation);
        },
      );
    }
  }
}
