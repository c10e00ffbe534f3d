/**
 * Bits that flip in messages of one replica: in the memory that a message is sent from, before anybody has read it, or on the way of
 * one that travels with its envelope.
 */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import type { ProcessName } from "../../core/base/identity.ts";
import type { ProtocolPorts } from "../../core/ft/protocol.ts";
import type { ReplicationOptions, ReplicationProtocol } from "../../core/ft/replication/replication-protocol.ts";
import { unordered, Went } from "../../core/request/decisions.ts";
import {
  R_BYTES,
  R_CONTEXT,
  R_KIND,
  R_PEER,
  R_POINTER,
  R_REPLICA,
  R_SEQUENCE,
  R_STATUS_SOURCE,
  R_TAG,
  RecordKind,
} from "../../core/request/records.ts";
import type { Random } from "../random.ts";

type MakeReplica = (options: ReplicationOptions, ports: ProtocolPorts) => ReplicationProtocol;

/** A message whose bits were flipped. */
export interface Flipped {
  readonly rank: number;
  readonly replica: number;
  readonly dest: number;
  readonly sequence: number;
  readonly where: string;
  readonly bytes: number;
  readonly context: number;
  readonly tag: number;
}

interface FlipPlan {
  readonly rank: number;
  readonly replica: number;
  /** Of the process's messages, the first that is flipped; −1: none is. */
  readonly message: number;
  readonly bits: number;
  readonly where: "memory" | "way";
}

export class Flips {
  readonly done: Flipped[] = [];
  /** Processes that have taken it for right: no bit of it may get that far. */
  readonly letIn: ProcessName[] = [];
  readonly #plan: FlipPlan;
  readonly #random: Random;
  readonly #mayFlip: () => boolean;
  #messages = 0;
  /** By receiver and number, bits: the replicas of the rank that have posted that message. */
  readonly #posted = new Map<string, { readonly dest: number; replicas: number }>();

  /** `mayFlip`: is it time? */
  constructor(plan: FlipPlan, random: Random, mayFlip: () => boolean = () => true) {
    this.#plan = plan;
    this.#random = random;
    this.#mayFlip = mayFlip;
  }

  static none(random: Random): Flips {
    return new Flips({ rank: 0, replica: 0, message: -1, bits: 0, where: "memory" }, random);
  }

  make(make: MakeReplica, options: ReplicationOptions, ports: ProtocolPorts): ReplicationProtocol {
    const { rank, replica, where } = this.#plan;
    if (options.rank !== rank) return this.#watched(make(options, ports), options, ports);
    const madeNoting = (through: ProtocolPorts): ReplicationProtocol =>
      this.#noting(make(options, through), options.replica, ports);
    if (options.replica !== replica) return madeNoting(ports);
    return where === "memory" ? this.#inMemory(madeNoting(ports), ports) : madeNoting(this.#onTheWay(ports));
  }

  #noting(made: ReplicationProtocol, replica: number, { records }: ProtocolPorts): ReplicationProtocol {
    const post = made.sendPosted.bind(made);
    made.sendPosted = (send) => {
      const dest = records.get(send, R_PEER);
      const name = `${dest} ${records.get(send, R_SEQUENCE)}`;
      const posted = this.#posted.get(name) ?? { dest, replicas: 0 };
      posted.replicas |= 1 << replica;
      this.#posted.set(name, posted);
      return post(send);
    };
    return made;
  }

  /** The ranks to which the replica that was hit has posted messages that no other ever posts: they are judged never, and stay where they are. */
  get receiversOfMore(): ReadonlySet<number> {
    const only = 1 << this.#plan.replica;
    const more = [...this.#posted.values()].filter(({ replicas }) => replicas === only);
    return new Set(more.map(({ dest }) => dest));
  }

  /** What counts as received must not be the message that was hit. */
  #watched(
    made: ReplicationProtocol,
    { rank, replica }: ReplicationOptions,
    ports: ProtocolPorts,
  ): ReplicationProtocol {
    const held = made.held.bind(made);
    made.held = (source, sequence) => {
      const [flipped] = this.done;
      if (flipped?.rank === source && flipped.sequence === sequence && flipped.dest === rank) {
        if (senderOf(ports, source, sequence) === flipped.replica) this.letIn.push({ rank, replica });
      }
      held(source, sequence);
    };
    return made;
  }

  /** Marks of processes that come to rest are no messages of the program. */
  #isDue(bytes: number, sequence: number): boolean {
    if (sequence === unordered || !this.#mayFlip()) return false;
    return bytes > 0 && this.done.length === 0 && this.#plan.message >= 0 && this.#messages++ >= this.#plan.message;
  }

  #flip({ memory }: ProtocolPorts, pointer: Pointer, bytes: number): () => void {
    const view = memory.view(pointer, bytes);
    const flipped = new Set<number>();
    while (flipped.size < Math.min(this.#plan.bits, 8 * bytes)) flipped.add(this.#random.below(8 * bytes));
    const flip = (): void => {
      for (const bit of flipped) view[bit >> 3] = view[bit >> 3]! ^ (1 << (bit & 7));
    };
    flip();
    return flip;
  }

  #note(flipped: Omit<Flipped, "rank" | "replica" | "where">): void {
    const { rank, replica, where } = this.#plan;
    this.done.push({ rank, replica, where, ...flipped });
  }

  #inMemory(made: ReplicationProtocol, ports: ProtocolPorts): ReplicationProtocol {
    const post = made.sendPosted.bind(made);
    made.sendPosted = (send) => {
      const { records } = ports;
      const [dest, bytes] = [records.get(send, R_PEER), records.get(send, R_BYTES)];
      if (dest !== this.#plan.rank && this.#isDue(bytes, records.get(send, R_SEQUENCE))) {
        this.#flip(ports, records.get(send, R_POINTER) as Pointer, bytes);
        const [context, tag] = [records.get(send, R_CONTEXT), records.get(send, R_TAG)];
        this.#note({ dest, sequence: records.get(send, R_SEQUENCE), bytes, context, tag });
      }
      return post(send);
    };
    return made;
  }

  #onTheWay(ports: ProtocolPorts): ProtocolPorts {
    const transmit: ProtocolPorts["transmit"] = (message, keeper) => {
      const { dest, sequence, bytes, pointer, context, tag } = message;
      if (!this.#isDue(bytes, sequence)) return ports.transmit(message, keeper);
      const flipBack = this.#flip(ports, pointer, bytes);
      const went = ports.transmit(message, keeper);
      flipBack();
      if (went === Went.WHOLE) this.#note({ dest, sequence, bytes, context, tag });
      return went;
    };
    return new Proxy(ports, { get: (all, key) => (key === "transmit" ? transmit : Reflect.get(all, key, all)) });
  }
}

/** The replica whose bytes of a message are here; −1: the message has no record. */
function senderOf({ records }: ProtocolPorts, source: number, sequence: number): number {
  for (let record = 0 as RecordId; records.has(record); record++) {
    const kind = records.get(record, R_KIND);
    const isMatched = kind === RecordKind.RECEIVE && records.get(record, R_STATUS_SOURCE) >= 0;
    const isMessage = isMatched || kind === RecordKind.ENVELOPE;
    if (!isMessage || records.get(record, R_PEER) !== source || records.get(record, R_SEQUENCE) !== sequence) continue;
    return records.get(record, R_REPLICA);
  }
  return -1;
}
