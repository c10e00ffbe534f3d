/**
 * What the dispatcher and the event logger do in a simulated world under message logging: the deaths of a correlated set are
 * declared to everybody in one order, what is left of the set is ended, and its next life begins with what the event logger
 * has.
 *
 * A death is noticed `detectionNs` after it happened. Everybody hears of it, and of the return, after a delay of its own, but
 * all in the same order (rule 7).
 */
import { type LoggingOptions, LoggingProtocol } from "../../core/ft/logging/logging-protocol.ts";
import type { PayloadMemoryOptions } from "../../core/ft/logging/payload-memory.ts";
import type { NewProtocol, ProtocolPorts } from "../../core/ft/protocol.ts";
import type { Checkpoint as Committed } from "../../core/service/checkpoint-server.ts";
import { EventLogger } from "../../core/service/event-logger.ts";
import type { Random } from "../random.ts";
import type { SimProcess, SimState } from "../sim-process.ts";
import type { World } from "../world.ts";
import type { CapturedLife, Checkpoint } from "./checkpoints.ts";
import { hasHalf } from "./half-received.ts";
import type { RankImage } from "./rank-image.ts";
import { SetStream } from "./set-stream.ts";

export interface RecoveryOptions {
  readonly setOf: Int32Array;
  readonly random: Random;
  readonly detectionNs: number;
  /** Up to so long takes everything that is said between nodes and services. */
  readonly delayNsMax: number;
  readonly restartNs: number;
  /** Another one than the real one, for tests that want to see it fail. */
  readonly newProtocol?: (options: LoggingOptions, ports: ProtocolPorts) => LoggingProtocol;
  /** What a set that has fallen goes on from; null: from the start of the program. */
  readonly newest?: (set: number) => Checkpoint | null;
  /** The event logger has got something of that set. */
  readonly logged?: (set: number) => void;
  /** Everybody hears that the set has fallen. */
  readonly declared?: (set: number) => void;
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
    /** The payload log of a rank had no room. */
    logFull: 0,
  };
  /** Called when a set has been restarted. */
  onRestart: (set: number) => void = () => {};
  readonly #options: RecoveryOptions;
  readonly #random: Random;
  readonly #lives = new Map<number, SetLife>();
  /** The present life of each rank, or its last one. */
  readonly #incarnations: number[];
  readonly #lastNoticeNs: Float64Array;
  #world: World | null = null;
  /** To the event logger; how many there were before. */
  #isConnected = true;
  #connection = 0;

  constructor(options: RecoveryOptions) {
    this.#options = options;
    this.#random = options.random;
    this.setOf = options.setOf;
    this.#incarnations = Array.from(options.setOf, () => 0);
    this.restartsOf = this.#incarnations;
    this.#lastNoticeNs = new Float64Array(options.setOf.length);
    for (const set of new Set(options.setOf)) this.#begin(set, 0, 0);
  }

  get #there(): World {
    return this.#world!;
  }

  attach(world: World): void {
    this.#world = world;
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

  /** A process has died. Its neighbours of the set may live on until somebody notices. */
  crashed(rank: number, before: SimState): void {
    if (before === "finished") this.rare.finishedFell++;
    if (hasHalf(this.#there.processes[rank]!, this.setOf)) this.rare.fellWithHalf++;
    if ((this.#there.processes[rank]!.core.protocol as LoggingProtocol).isReplaying) this.rare.fellInReplay++;
    const life = this.#lives.get(this.setOf[rank]!)!;
    if (life.isOver) return;
    const { detectionNs } = this.#options;
    const isFirst = this.membersOf(life.set).filter((member) => this.#isDead(member)).length === 1;
    if (isFirst) this.#there.plan(this.#there.nowNs + this.#random.below(detectionNs + 1), () => this.#declare(life));
  }

  /** Everybody who is dead is declared so now. */
  notice(): void {
    for (const life of [...this.#lives.values()]) {
      if (!life.isOver && this.membersOf(life.set).some((rank) => this.#isDead(rank))) this.#declare(life);
    }
  }

  #isDead(rank: number): boolean {
    return this.#there.processes[rank]!.state === "dead";
  }

  /** The set is ended, and everybody hears of it. */
  #declare(life: SetLife): void {
    if (life.isOver) return;
    for (const other of this.#lives.values()) if (other.isOver) this.rare.severalSetsDown++;
    life.isOver = true;
    this.#options.declared?.(life.set);
    const members = this.membersOf(life.set);
    for (const rank of members) this.#there.crash(rank);
    for (const rank of members) {
      this.#tell(life.set, (process) => {
        this.#there.network.know(process.rank, rank, life.incarnation + 1);
        process.core.peerFailed(rank, life.incarnation);
        this.rare.messagesBroken += process.engine.brokenFrom(rank).length;
      });
    }
    const { restartNs } = this.#options;
    this.#there.plan(this.#there.nowNs + this.#random.below(restartNs + 1), () => this.#restart(life));
  }

  /** Tells everybody outside of that set, each after a while. */
  #tell(set: number, notice: (process: SimProcess) => void): void {
    const world = this.#there;
    for (const process of world.processes) {
      const { rank } = process;
      if (this.setOf[rank] === set || process.state === "dead") continue;
      const delayNs = this.#random.below(this.#options.delayNsMax);
      const timeNs = Math.max(this.#lastNoticeNs[rank]!, world.nowNs + delayNs);
      this.#lastNoticeNs[rank] = timeNs;
      world.plan(timeNs, () => {
        if (process.state === "dead") return;
        notice(process);
        world.wake(rank);
      });
    }
  }

  // The next life

  #restart({ set, incarnation: before, stream }: SetLife): void {
    const known = this.logger.end(set);
    if (known !== stream.born) this.rare.determinantsLost++;
    if (known !== stream.stable) this.rare.acknowledgementsLost++;
    this.restarts++;
    const incarnation = before + 1;
    const members = this.membersOf(set);
    for (const rank of members) this.#incarnations[rank] = incarnation;
    const checkpoint = this.#options.newest?.(set) ?? null;
    const log = this.logger.fence(set, incarnation, checkpoint?.position ?? 0)!;
    this.#begin(set, incarnation, this.logger.end(set));
    const incarnations = [...this.#incarnations];
    const processes = members.map((rank) => this.#there.revive(rank, incarnations, this.protocol(rank)));
    for (const process of processes) {
      this.#options.prepare(process, checkpoint?.images.get(process.rank) ?? null);
      process.core.protocol?.begin({ incarnation, incarnations, data: { log }, caughtUp() {} });
      this.#options.start(process);
    }
    for (const rank of members) {
      this.#tell(set, (process) => {
        this.#there.network.know(process.rank, rank, incarnation);
        process.core.peerReturned(rank, incarnation);
      });
    }
    this.onRestart(set);
  }
}
