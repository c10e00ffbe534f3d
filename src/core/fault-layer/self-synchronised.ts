/**
 * A blocking collective that no member completes before all have come to it: an allreduce, an allgather, an all-to-all, whose result at every member is made of
 * something of every member (ADR 58). It is its own synchronisation. The base begins, nobody is told, and whoever completes it knows that all
 * members have come by their programs.
 *
 * The dead say which collective is the first that they have not come to. A member that is in that one, or in a later one, knows that nobody will
 * complete it, and reports what it has begun; so does everybody who hears of a revocation. The verdict says whether all have come: if not, those that have not take part
 * with buffers of their own, and it ends with the verdict's error at all when the base is done. Nobody does so before all members that live
 * have reported, so nobody takes a result that is made of such buffers for a good one.
 */
import type { RecordId } from "../base/brand.ts";
import type { ErrorCode } from "../base/mpi-error.ts";
import type { Operations } from "../binding/operations.ts";
import { Task } from "../process/task.ts";
import { type GuardedCall, GuardedCollective, recentCallOf, startCall } from "./guarded-tasks.ts";
import type { Member, Turn } from "./member.ts";
import type { RecentCall } from "./recent-collectives.ts";

/** No request, not even the one that stands for none. */
const nothing = -2 as RecordId;

/**
 * The one that the program is in, where nothing speaks against it when it comes: its request is the base's own, and costs what it costs without the layer. (A
 * task beside it is advanced in every progress, by code that is cold in most programs.)
 */
export class UntoldCollective {
  readonly #base: Operations;
  #member: Member | null = null;
  #turn: Turn | null = null;
  /** Of the base; negative: the program is in none. */
  request = nothing;
  /** Told to nobody, and all members have come. */
  #isMet = false;

  constructor(base: Operations) {
    this.#base = base;
  }

  /** Before the base begins, which takes the number that `call` has. */
  announce(member: Member, call: RecentCall): void {
    this.#member = member;
    this.#turn = member.begin(call);
    this.#isMet = false;
  }

  get isOver(): boolean {
    if (this.#isMet) return true;
    if (!this.#base.isComplete(this.request)) return false;
    const turn = this.#turn!;
    if (turn.at !== null) return turn.isOver;
    this.#member!.met(turn);
    this.#isMet = true;
    return true;
  }

  /** The verdict's; 0: there was none, or it is carried out. */
  get error(): ErrorCode {
    return this.#turn!.error;
  }

  /** The program gives its request back. */
  end(): void {
    this.request = nothing;
  }
}

/** The same where the program is in another one already, where calls wait for verdicts, or where it is known that a member will not come. */
export class SelfSynchronised extends Task {
  readonly #base: Operations;
  readonly #member: Member;
  readonly #call: GuardedCall;
  #turn: Turn | null = null;
  #request = -1 as RecordId;
  /** Instead, where a member is known not to come before the base has begun; null: none is. */
  #guarded: GuardedCollective | null = null;

  constructor(base: Operations, member: Member, call: GuardedCall) {
    super();
    this.#base = base;
    this.#member = member;
    this.#call = call;
  }

  override advance(): boolean {
    if (this.#turn === null) this.#begin();
    if (this.#guarded !== null) return this.#isGuardedOver(this.#guarded);
    const turn = this.#turn;
    if (turn === null || !this.#base.isComplete(this.#request)) return false;
    const isTold = turn.at !== null;
    if (isTold && !turn.isOver) return false;
    if (!isTold) this.#member.met(turn);
    this.error = turn.error || this.#base.errorOf(this.#request);
    this.#base.end(this.#request);
    return true;
  }

  #begin(): void {
    const member = this.#member;
    const { comm } = member;
    if (this.#guarded !== null) return;
    if (comm.isBroken) this.#guarded = new GuardedCollective(this.#base, member, this.#call, "blocking", true);
    else if (member.isIdle) {
      this.#turn = member.begin(recentCallOf(comm, this.#call)!);
      this.#request = startCall(this.#base, comm, this.#call, "blocking");
    }
  }

  #isGuardedOver(guarded: GuardedCollective): boolean {
    if (!guarded.advance()) return false;
    this.error = guarded.error;
    return true;
  }
}
