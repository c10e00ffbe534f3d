import type { CommRank, Pointer, RecordId } from "../../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import { Group } from "../../comm/group.ts";
import { R_ERROR, SendMode } from "../../request/records.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { Awaited, Creation } from "../task.ts";
import { inCommonOrder } from "./member-order.ts";
import { NewCommunicator } from "./new-communicator.ts";
import { interTag } from "./task-tags.ts";
import { WordBroadcast } from "./word-broadcast.ts";

/** MPI_Intercomm_create: the leaders tell each other their groups over `bridge`, then all members agree. */
export class CreateInter extends NewCommunicator {
  private readonly local: Communicator;
  private readonly leader: number;
  private readonly bridge: Communicator | null;
  private readonly remoteLeader: number;
  private readonly tag: number;
  private readonly count: number;
  /** Among the collectives of `local`. */
  private readonly number: number;
  /** The leaders exchange size, context and count, then the members. */
  private phase: "greet" | "introduce" | "spread-size" | "spread" | "agree" = "greet";
  private requests: RecordId[] = [];
  private spreading: WordBroadcast | null = null;
  private out = 0 as Pointer;
  private in = 0 as Pointer;
  private greeting: Int32Array = new Int32Array(3);
  private remote: Group = Group.empty;

  constructor(local: Communicator, leader: number, bridge: Communicator | null, remoteLeader: number, tag: number) {
    super();
    this.local = local;
    this.leader = leader;
    this.bridge = bridge;
    this.remoteLeader = remoteLeader;
    this.tag = tag;
    this.count = local.children++;
    this.number = local.nextCollective(kindCode.intercomm_create, unlike, unlike);
  }

  override get creation(): Creation {
    return { comm: this.local, number: this.number, kind: kindCode.intercomm_create };
  }

  /** The other leader, whose words are not here yet. */
  override get awaited(): Awaited | null {
    const { bridge, requests } = this;
    if (bridge === null || requests.length === 0) return null;
    const peer = bridge.peers.worldRank(this.remoteLeader as CommRank);
    return { comm: bridge, tag: interTag(this.tag), peers: [peer], kind: kindCode.intercomm_create };
  }

  override isAwaiting({ engine }: Process): boolean {
    return this.awaited !== null && !this.requests.every((request) => engine.isComplete(request));
  }

  override abandon({ engine }: Process, error: ErrorCode): void {
    this.error ||= error;
    for (const request of this.requests) engine.cancel(request);
  }

  private get leads(): boolean {
    return this.local.rank === this.leader;
  }

  override advance(process: Process): boolean {
    for (;;) {
      switch (this.phase) {
        case "greet":
          if (this.leads && !this.trade(process, Int32Array.of(this.local.size, this.local.context, this.count), 3))
            return false;
          if (this.error !== 0) return true;
          if (this.leads) this.greeting = this.taken(process, 3);
          this.phase = "spread-size";
          break;
        case "spread-size": {
          const greeting = this.spread(process, this.greeting);
          if (greeting === null) return false;
          if (this.error !== 0) return true;
          this.greeting = greeting;
          this.phase = "introduce";
          break;
        }
        case "introduce": {
          const members = Int32Array.from(this.local.group.worldRanks());
          const size = this.greeting[0]!;
          if (this.leads && !this.trade(process, members, size)) return false;
          if (this.error !== 0) return true;
          if (this.leads) this.remote = Group.of(this.taken(process, size));
          this.phase = "spread";
          break;
        }
        case "spread": {
          const mine = this.leads ? Int32Array.from(this.remote.worldRanks()) : new Int32Array(this.greeting[0]!);
          const members = this.spread(process, mine);
          if (members === null) return false;
          if (this.error !== 0) return true;
          this.remote = Group.of(members);
          if (this.remote.intersection(this.local.group).size > 0) {
            this.error = ErrorClass.COMM;
            return true;
          }
          this.phase = "agree";
          break;
        }
        case "agree": {
          const [, context, count] = this.greeting;
          const parent = Math.min(this.local.context, context!) ^ Math.imul(Math.max(this.local.context, context!), 31);
          const members = inCommonOrder(this.local.group, this.remote);
          return this.agree(process, members, this.local, this.count + count!, parent ^ this.tag);
        }
      }
    }
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.local.group, remote: this.remote };
  }

  /** The leaders send each other words. True when ours have left and theirs are here. */
  private trade(process: Process, words: Int32Array, wanted: number): boolean {
    const { engine, memory } = process;
    if (this.requests.length === 0) {
      const bridge = this.bridge!;
      const peer = bridge.peers.worldRank(this.remoteLeader as CommRank);
      const tag = interTag(this.tag);
      this.out = memory.allocate(words.byteLength);
      this.in = memory.allocate(wanted * 4);
      new Int32Array(memory.bytes.buffer, this.out, words.length).set(words);
      this.requests = [
        engine.startReceive(this.in, wanted * 4, peer, tag, bridge.collectiveContext),
        engine.startSend(this.out, words.byteLength, peer, tag, bridge.collectiveContext, SendMode.STANDARD),
      ];
    }
    if (!this.requests.every((request) => engine.isComplete(request))) return false;
    for (const request of this.requests) {
      this.error ||= engine.records.get(request, R_ERROR);
      engine.giveBack(request);
    }
    this.requests = [];
    memory.free(this.out);
    if (this.error !== 0) memory.free(this.in);
    return true;
  }

  private taken(process: Process, wanted: number): Int32Array {
    const words = new Int32Array(process.memory.bytes.buffer, this.in, wanted).slice();
    process.memory.free(this.in);
    return words;
  }

  /** The leader's words to all members of the local group. */
  private spread(process: Process, words: Int32Array): Int32Array | null {
    this.spreading ??= new WordBroadcast(this.local, this.leader, words, this.number);
    const all = this.spreading.advance(process);
    if (all === null) return null;
    this.error ||= this.spreading.error;
    this.spreading = null;
    return all;
  }
}

saves({ CreateInter });
