/**
 * How requests end, and which have not yet. The engine may be done with a send before the program may hear of it: the protocol is
 * asked, and sends that it holds back wait here; it is asked again on every progress.
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { lives } from "../base/saved-classes.ts";
import type { Memory } from "../request/memory.ts";
import {
  R_CONTEXT,
  R_ERROR,
  R_FLAGS,
  R_KIND,
  R_PEER,
  R_POINTER,
  R_SEQUENCE,
  R_STATE,
  R_STATUS_SOURCE,
  RecordFlag,
  RecordKind,
  RecordState,
  type Records,
  recordWords,
} from "../request/records.ts";
import type { BrokenMessages } from "./broken-messages.ts";
import type { EngineHooks, EnginePorts } from "./engine-ports.ts";
import type { Peers } from "./peers.ts";
import { RecordList } from "./record-list.ts";

export class Completion {
  private readonly records: Records;
  private readonly memory: Memory;
  private readonly hooks: EngineHooks | null;
  private readonly peers: Peers;
  /** Sends that only the protocol keeps from completing. */
  private readonly unconfirmed: RecordList;
  private readonly broken: BrokenMessages;

  constructor({ records, memory, hooks, peers }: EnginePorts, broken: BrokenMessages) {
    this.broken = broken;
    this.records = records;
    this.memory = memory;
    this.hooks = hooks;
    this.peers = peers;
    this.unconfirmed = new RecordList(records);
  }

  complete(request: RecordId, error: number): void {
    const words = this.records.words;
    const at = request * recordWords;
    words[at + R_STATE] = RecordState.COMPLETE;
    words[at + R_ERROR] = error;
    if ((words[at + R_FLAGS]! & RecordFlag.ORPHAN) !== 0) this.giveBack(request);
  }

  completeCancelled(request: RecordId): void {
    this.records.addFlag(request, RecordFlag.CANCELLED);
    this.complete(request, 0);
  }

  /** The engine is done with a send; the protocol may still keep it from completing. */
  finishSend(send: RecordId): void {
    if (this.hooks !== null && !this.hooks.sendMayComplete(send)) {
      this.records.put(send, R_STATE, RecordState.ACTIVE);
      this.unconfirmed.append(send);
    } else this.complete(send, 0);
  }

  /** All bytes of its message have just come into the buffer of a receive. The protocol may want them once more. */
  finishReceive(receive: RecordId): void {
    if (this.hooks !== null) {
      if (!this.hooks.mayCount(receive)) {
        this.broken.add(receive);
        return;
      }
      const source = this.records.get(receive, R_STATUS_SOURCE) as WorldRank;
      this.hooks.held(source, this.records.get(receive, R_SEQUENCE));
    }
    this.completeReceive(receive);
  }

  /** Completes a receive whose message was stored: the protocol heard of its bytes when they arrived. */
  completeReceive(receive: RecordId): void {
    this.complete(receive, this.records.hasFlag(receive, RecordFlag.TRUNCATED) ? ErrorClass.TRUNCATE : 0);
  }

  /** Ends a complete request, and the loan of its buffer, unless that is the loan of a send which the protocol has taken. */
  giveBack(request: RecordId): void {
    if (this.hooks !== null) this.tellSeen(this.hooks, request, true);
    const pointer = this.records.get(request, R_POINTER) as Pointer;
    if (pointer < 0 && !this.records.hasFlag(request, RecordFlag.KEPT)) this.memory.giveBack(pointer);
    this.records.give(request);
  }

  /** The program is about to hear that a request is complete, and keeps it. */
  show(request: RecordId): void {
    if (this.hooks !== null) this.tellSeen(this.hooks, request, false);
  }

  private tellSeen(hooks: EngineHooks, request: RecordId, isOver: boolean): void {
    const { words } = this.records;
    const at = request * recordWords;
    const kind = words[at + R_KIND];
    if (kind === RecordKind.OPERATION) hooks.collectiveSeen(request);
    // One that was cancelled or has failed has no message.
    if (kind !== RecordKind.RECEIVE || words[at + R_STATUS_SOURCE]! < 0) return;
    hooks.seen(words[at + R_STATUS_SOURCE] as WorldRank, words[at + R_SEQUENCE]!, isOver);
  }

  get isHeldBack(): boolean {
    return this.unconfirmed.count !== 0;
  }

  /** Asks the protocol again; true when any send is complete now. */
  confirmSends(): boolean {
    const { hooks } = this;
    if (hooks === null) return false;
    let moved = false;
    for (let send = this.unconfirmed.first; send >= 0; ) {
      const next = this.unconfirmed.after(send);
      if (hooks.sendMayComplete(send)) {
        this.unconfirmed.remove(send);
        this.complete(send, 0);
        moved = true;
      }
      send = next;
    }
    return moved;
  }

  /** That peer is dead: requests that are under way with it end. Nothing else must know of them any more. */
  peerFailed(peer: number): void {
    const { peers } = this;
    this.unconfirmed.removeIf((send) => peers.ofRecord(this.records.words, send * recordWords) === peer);
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      if (!isMessage(words[at + R_KIND]!) || peers.ofRecord(words, at) !== peer) continue;
      if (words[at + R_STATE] === RecordState.ACTIVE)
        this.complete((at / recordWords) as RecordId, ErrorClass.PROC_FAILED);
    }
  }

  /** How many requests are not complete whose outcome the program still wants. */
  get unfinished(): number {
    const { words } = this.records;
    let count = 0;
    for (let at = 0; at < words.length; at += recordWords) {
      if (!isMessage(words[at + R_KIND]!) && words[at + R_KIND] !== RecordKind.OPERATION) continue;
      const isWanted = (words[at + R_FLAGS]! & (RecordFlag.ORPHAN | RecordFlag.UNWANTED)) === 0;
      if (words[at + R_STATE] !== RecordState.COMPLETE && isWanted) count++;
    }
    return count;
  }

  /** The program is over, whatever it has started: it wants no outcome any more. */
  forgetWanted(): void {
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      const isRequest = isMessage(words[at + R_KIND]!) || words[at + R_KIND] === RecordKind.OPERATION;
      if (isRequest) words[at + R_FLAGS] = words[at + R_FLAGS]! | RecordFlag.UNWANTED;
    }
  }

  /** Is anything of a message between us and one of those on its way? */
  isMoving(among: (rank: number) => boolean): boolean {
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      if (isOnItsWay(words[at + R_KIND]!, words[at + R_STATE]!, words[at + R_FLAGS]!) && among(words[at + R_PEER]!)) {
        return true;
      }
    }
    return false;
  }

  /** Are pieces of a message to one of these still to be sent? */
  isPushing(among: (rank: number) => boolean): boolean {
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      const isSend = words[at + R_KIND] === RecordKind.SEND && words[at + R_STATE] === RecordState.ACTIVE;
      if (!isSend || !among(words[at + R_PEER]!)) continue;
      if ((words[at + R_FLAGS]! & (RecordFlag.AWAITS_ANSWER | RecordFlag.TAKEN)) === 0) return true;
    }
    return false;
  }

  /** Is a message of that context still to be sent or received? */
  isUsing(context: number): boolean {
    const { words } = this.records;
    for (let at = 0; at < words.length; at += recordWords) {
      if (!isMessage(words[at + R_KIND]!) || words[at + R_CONTEXT] !== context) continue;
      if (words[at + R_STATE] !== RecordState.COMPLETE) return true;
    }
    return false;
  }
}

/** A packet that waits for room; a send that waits for it, or pushes pieces; a receive that has a message and not all bytes. */
function isOnItsWay(kind: number, state: number, flags: number): boolean {
  if (kind === RecordKind.OUTGOING) return true;
  if (kind === RecordKind.RECEIVE) return state === RecordState.ACTIVE && (flags & RecordFlag.BROKEN) === 0;
  if (kind !== RecordKind.SEND || (flags & RecordFlag.TAKEN) !== 0) return false;
  return state === RecordState.PENDING || (state === RecordState.ACTIVE && (flags & RecordFlag.AWAITS_ANSWER) === 0);
}

const isMessage = (kind: number): boolean => kind === RecordKind.SEND || kind === RecordKind.RECEIVE;

lives({ Completion });
