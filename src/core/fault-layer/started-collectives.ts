/**
 * Non-blocking collectives (thesis §5.2.3, §5.3.4): the base starts them at once, and whether a member is dead is asked when the program wants
 * them to be over. A collective that a dead member has not started will not be completed: it ends with PROC_FAILED for the program. One that
 * every dead member had started is completed by the base.
 *
 * The base goes on with a collective that has failed for the program, until all members have it at the end of the communicator
 * (communicator-end.ts). So it works on copies: the program's buffers are its own again as soon as it hears of the end.
 */
import { assert } from "../base/assert.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import type { Operations } from "../binding/operations.ts";
import type { EqualCall, EqualKind, ReductionKind } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Reduction } from "../process/reduction.ts";
import type { Memory } from "../request/memory.ts";
import type { Member } from "./member.ts";
import { blocksOf, type RecentCall, type RecentKind, type StartedCollective } from "./recent-collectives.ts";

/** The arguments of the program. */
export interface EqualCollective {
  readonly kind: EqualKind | ReductionKind;
  readonly send: Pointer;
  readonly receive: Pointer;
  readonly call: EqualCall;
  /** Null: it is no reduction. */
  readonly reduction: Reduction | null;
}

interface Watch {
  readonly member: Member;
  readonly number: number;
  readonly started: StartedCollective;
  readonly from: Pointer;
  readonly to: Pointer;
  readonly bytes: number;
  /** How it ended for the program, whatever the base does; 0: as the base says. */
  error: ErrorCode;
  isCopied: boolean;
}

interface Joined {
  readonly member: Member;
  readonly started: StartedCollective;
}

/** Combines nothing: in a collective that has failed nobody wants the result. */
const noReduction = (elementBytes: number): Reduction => ({ elementBytes, inMemory: true, apply: () => undefined });

export class StartedCollectives {
  readonly #base: Operations;
  readonly #memory: Memory;
  readonly #watches = new Map<RecordId, Watch>();
  /** Blocking ones that came to nothing, in which this member takes part for the sake of the others. */
  readonly #joined = new Map<RecordId, Joined>();

  /** Called when there is something to do for `progress`. */
  readonly #stir: () => void;

  constructor(base: Operations, memory: Memory, stir: () => void) {
    this.#base = base;
    this.#memory = memory;
    this.#stir = stir;
  }

  get isBusy(): boolean {
    return this.#joined.size !== 0;
  }

  /** For the program. */
  start(member: Member, program: EqualCollective): RecordId {
    const { comm, recent } = member;
    member.seeMeetings();
    const { kind, send, receive, call, reduction } = program;
    const { bytes = 0, root = 0, inPlace = false } = call;
    const { sentBytes, receivedBytes } = lengthsAt(comm, kind, call);
    const buffers = [this.#memory.allocate(sentBytes), this.#memory.allocate(receivedBytes)] as const;
    this.#memory.copy(buffers[0], 0, send, 0, sentBytes);
    // Blocks that are there before: what is broadcast, and operands that the result takes the place of.
    if ((inPlace && kind !== "scatter") || kind === "bcast")
      this.#memory.copy(buffers[1], 0, receive, 0, receivedBytes);
    const tag = comm.nextNumber;
    const recentCall = { kind, bytes, root, elementBytes: reduction?.elementBytes ?? 0, tag };
    const request = this.#begin(member, recentCall, buffers, { ...call, form: "nonblocking" }, reduction);
    const started = { ...recentCall, request, buffers };
    const number = recent.add(started);
    const [, from] = buffers;
    this.#watches.set(request, {
      member,
      number,
      started,
      from,
      to: receive,
      bytes: receivedBytes,
      error: 0,
      isCopied: false,
    });
    return request;
  }

  /** For the layer: this member takes part in a collective that its program has not come to. */
  takePart(member: Member, call: RecentCall): void {
    member.recent.add(this.#startWithout(member, call));
  }

  /** The same in one that others have begun while they waited for a verdict. It has its number on the communicator at all members. */
  join(member: Member, call: RecentCall): void {
    const { comm } = member;
    if (comm.nextNumber === call.tag) comm.endPromise(comm.promiseCollective());
    const started = this.#startWithout(member, call);
    this.#joined.set(started.request, { member, started });
    this.#stir();
  }

  /** Gives back what is over of those that this member has joined. */
  progress(): void {
    if (this.#joined.size === 0) return;
    for (const [request, { started }] of this.#joined) {
      if (!this.#base.isComplete(request)) continue;
      this.#joined.delete(request);
      this.#finish(started);
    }
  }

  #startWithout(member: Member, call: RecentCall): StartedCollective {
    const { kind, bytes, root, elementBytes, tag } = call;
    const { sent, received } = blocksOf(kind, member.comm.size);
    const buffers = [this.#memory.allocate(sent * bytes), this.#memory.allocate(received * bytes)] as const;
    const reduction = elementBytes === 0 ? null : noReduction(elementBytes);
    const request = this.#begin(member, call, buffers, { bytes, root, form: tag }, reduction);
    return { ...call, request, buffers };
  }

  #begin(
    { comm }: Member,
    { kind }: RecentCall,
    [send, receive]: readonly [Pointer, Pointer],
    call: EqualCall,
    reduction: Reduction | null,
  ): RecordId {
    if (reduction === null) return this.#base.startEqual(comm, asEqual(kind), send, receive, call);
    return this.#base.startReduction(comm, asReduction(kind), send, receive, call, reduction);
  }

  /** Null: the request is none of these. */
  isOver(request: RecordId): boolean | null {
    const watch = this.#watches.get(request);
    if (watch === undefined) return null;
    if (watch.error !== 0) return true;
    if (!this.#base.isComplete(request)) return false;
    if (!watch.isCopied && this.#base.errorOf(request) === 0) {
      this.#memory.copy(watch.to, 0, watch.from, 0, watch.bytes);
    }
    watch.isCopied = true;
    return true;
  }

  /** The error of a request, if it is not that of the base; 0: none. */
  errorOf(request: RecordId): ErrorCode {
    return this.#watches.get(request)?.error ?? 0;
  }

  /** The program gives a request back that is over for it. False: it is none of these. */
  end(request: RecordId): boolean {
    const watch = this.#watches.get(request);
    if (watch === undefined) return false;
    this.#watches.delete(request);
    if (!this.#base.isComplete(request)) return true;
    this.#finish(watch.started);
    watch.member.recent.completed(watch.number);
    return true;
  }

  /** Gives back what the base is done with and the program too; true when nothing of the communicator is under way. */
  finishAll(member: Member): boolean {
    this.progress();
    let isOver = ![...this.#joined.values()].some((joined) => joined.member === member);
    for (const started of member.recent.since(0)) {
      const { request } = started;
      if (request < 0) continue;
      if (!this.#base.isComplete(request)) isOver = false;
      else if (!this.#watches.has(request)) this.#finish(started);
    }
    return isOver;
  }

  #finish(started: StartedCollective): void {
    this.#base.end(started.request);
    started.request = -1 as RecordId;
    for (const buffer of started.buffers) this.#memory.free(buffer);
  }

  /** A member of that communicator is dead, and what it had started is known. */
  collectivesKnown(member: Member): void {
    this.#fail(member, ErrorClass.PROC_FAILED, (number) => member.isLackedByDead(number));
  }

  revoked(member: Member): void {
    this.#fail(member, ErrorClass.REVOKED, () => true);
  }

  #fail(member: Member, error: ErrorCode, isMeant: (number: number) => boolean): void {
    for (const [request, watch] of this.#watches) {
      if (watch.member !== member || watch.error !== 0 || this.#base.isComplete(request)) continue;
      if (isMeant(watch.number)) watch.error = error;
    }
  }
}

/** Lengths of the program's buffers at this member. Where it has none the pointer means nothing. */
function lengthsAt(
  comm: Communicator,
  kind: RecentKind,
  { bytes = 0, root = 0, inPlace = false }: EqualCall,
): { readonly sentBytes: number; readonly receivedBytes: number } {
  const { sent, received } = blocksOf(kind, comm.size);
  const isRoot = comm.rank === root;
  switch (kind) {
    // In place it is the root's own block that stays where it is.
    case "scatter":
      return { sentBytes: isRoot ? sent * bytes : 0, receivedBytes: inPlace ? 0 : bytes };
    case "gather":
    case "reduce":
      return { sentBytes: inPlace ? 0 : bytes, receivedBytes: isRoot ? received * bytes : 0 };
    case "exscan":
      return { sentBytes: inPlace ? 0 : bytes, receivedBytes: inPlace || comm.rank > 0 ? bytes : 0 };
    default:
      // In place the operands are where the result goes.
      return inPlace
        ? { sentBytes: 0, receivedBytes: Math.max(sent, received) * bytes }
        : { sentBytes: sent * bytes, receivedBytes: received * bytes };
  }
}

const reductions: ReadonlySet<RecentKind> = new Set(["reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"]);

function asEqual(kind: RecentKind): EqualKind {
  assert(!reductions.has(kind), `${kind} without a reduction`);
  return kind as EqualKind;
}

function asReduction(kind: RecentKind): ReductionKind {
  assert(reductions.has(kind), `${kind} with a reduction`);
  return kind as ReductionKind;
}
