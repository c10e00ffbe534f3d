/**
 * A blocking collective whose members meet at the board of their communicator (ADR 56), on which it is carried out if it is short enough, and otherwise
 * behind it. The board is the synchronisation: its gate opens when every member has arrived by its program, so all live and have come, and the
 * collective is carried out by all. The dead arrive at no board any more. Whoever hears of a death or a revocation while the gate is shut takes its
 * arrival back, and nobody else can arrive in its place: so no member gets through, and all that live come to a verdict of the tree.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import type { Operations } from "../binding/operations.ts";
import { Task } from "../process/task.ts";
import { type GuardedCall, GuardedCollective, startCall } from "./guarded-tasks.ts";
import type { Member } from "./member.ts";

/** With these the layer withdraws from a board: the base knows of no death and no revocation, and has no such errors of its own. */
const isWithdrawn = (error: ErrorCode): boolean => error === ErrorClass.PROC_FAILED || error === ErrorClass.REVOKED;

const nowhere = 0 as Pointer;

export class MetCollective extends Task {
  readonly #base: Operations;
  readonly #member: Member;
  readonly #call: GuardedCall;
  /** Of the base: the collective, or a barrier before it. */
  #request: RecordId;
  #isBefore: boolean;
  /** Behind a gate that stayed shut; null: it has not. */
  #guarded: GuardedCollective | null = null;

  /** `isOnBoard`: the base carries out the collective on the board. */
  constructor(base: Operations, member: Member, call: GuardedCall, isOnBoard: boolean) {
    super();
    this.#base = base;
    this.#member = member;
    this.#call = call;
    this.#isBefore = !isOnBoard;
    this.#request = isOnBoard
      ? startCall(base, member.comm, call, "blocking")
      : base.startEqual(member.comm, "barrier", nowhere, nowhere, { form: "blocking" });
  }

  override advance(): boolean {
    if (this.#guarded !== null) return this.#isGuardedOver(this.#guarded);
    const base = this.#base;
    const { comm } = this.#member;
    while (base.isComplete(this.#request)) {
      const error = base.errorOf(this.#request);
      base.end(this.#request);
      if (isWithdrawn(error)) {
        this.#guarded = new GuardedCollective(base, this.#member, this.#call, "blocking", true);
        return this.#isGuardedOver(this.#guarded);
      }
      if (!this.#isBefore || error !== 0) {
        this.error = error;
        return true;
      }
      this.#isBefore = false;
      this.#request = startCall(base, comm, this.#call, "blocking");
    }
    return false;
  }

  #isGuardedOver(guarded: GuardedCollective): boolean {
    if (!guarded.advance()) return false;
    this.error = guarded.error;
    return true;
  }
}
