/** Calls that wait for a verdict of all members before the base does anything (thesis §5.2.2, §5.3.8): as operations of several steps. */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { ErrorCode } from "../base/mpi-error.ts";
import type { Exchange } from "../binding/exchange.ts";
import type { Operations } from "../binding/operations.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Collective } from "../coll/plan.ts";
import { Group } from "../comm/group.ts";
import type { Agree } from "../process/agree.ts";
import type { CollectiveForm } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Shrink } from "../process/communicators/shrink.ts";
import { contextCandidate } from "../process/context.ts";
import type { Process } from "../process/process.ts";
import type { Reduction } from "../process/reduction.ts";
import { type AwaitedPeers, type Creation, Task } from "../process/task.ts";
import { R_STATUS_BYTES, R_STATUS_SOURCE, R_STATUS_TAG } from "../request/records.ts";
import type { Member, Turn } from "./member.ts";
import type { RecentCall } from "./recent-collectives.ts";
import { Purpose } from "./report.ts";
import type { EqualCollective } from "./started-collectives.ts";

/** A collective with blocks of their own size, or among neighbours. */
type OtherCall =
  | {
      readonly kind: "blocks";
      readonly collective: Collective | InterCollective;
      readonly send: Pointer;
      readonly receive: Pointer;
      readonly reduction: Reduction | null;
      readonly error: number;
    }
  | {
      readonly kind: "neighbor";
      readonly collective: NeighborCollective;
      readonly send: Pointer;
      readonly receive: Pointer;
    };

/** Starts a collective of the base. */
function startOther(base: Operations, comm: Communicator, call: OtherCall, form: CollectiveForm): RecordId {
  const { send, receive } = call;
  if (call.kind === "neighbor") return base.startNeighbor(comm, call.collective, send, receive, form);
  return base.startBlocks(comm, call.collective, send, receive, call.reduction, form, call.error);
}

function startProgramCall(
  base: Operations,
  comm: Communicator,
  program: EqualCollective,
  form: CollectiveForm,
): RecordId {
  const { kind, send, receive, reduction } = program;
  // V8 11 is slow to spread it, see board-operations.ts.
  const call = program.call.form === form ? program.call : { ...program.call, form };
  if (reduction !== null) return base.startReduction(comm, kind as "reduce", send, receive, call, reduction);
  return base.startEqual(comm, kind as "bcast", send, receive, call);
}

export type GuardedCall = { readonly equal: EqualCollective } | { readonly other: OtherCall };

export function startCall(base: Operations, comm: Communicator, call: GuardedCall, form: CollectiveForm): RecordId {
  if ("other" in call) return startOther(base, comm, call.other, form);
  return startProgramCall(base, comm, call.equal, form);
}

/** The call as all members know it; null: it does not fit into a few words. */
export function recentCallOf(comm: Communicator, call: GuardedCall): RecentCall | null {
  if (comm.isInter || !("equal" in call)) return null;
  const { kind, reduction } = call.equal;
  const { bytes = 0, root = 0 } = call.equal.call;
  return { kind, bytes, root, elementBytes: reduction?.elementBytes ?? 0, tag: comm.nextNumber };
}

/** Null: it cannot begin before the verdict. */
const earlyCallOf = (comm: Communicator, call: GuardedCall, form: CollectiveForm): RecentCall | null =>
  form !== "blocking" || isSynchronisation(call, form) ? null : recentCallOf(comm, call);

/** A barrier has nothing to do but to wait until all have come. */
const isSynchronisation = (call: GuardedCall, form: CollectiveForm): boolean =>
  form === "blocking" && "equal" in call && call.equal.kind === "barrier";

/**
 * A collective of the base, if all members live and have come. The verdict takes as long as a short collective does, so blocking ones begin while it is
 * under way, on the program's buffers. Where the verdict is that there is none, all members take part in what some have begun, the dead
 * and those that are in another call with buffers of their own, and it ends with the verdict's error when the base is done.
 */
export class GuardedCollective extends Task {
  readonly #base: Operations;
  readonly #comm: Communicator;
  readonly #call: GuardedCall;
  readonly #turn: Turn;
  /** Of the base: the number of a non-blocking collective is taken when the program comes to it, whatever it starts before the verdict. */
  readonly #form: CollectiveForm;
  readonly #isPromised: boolean;
  readonly #isSynchronisation: boolean;
  #request = -1 as RecordId;

  /** `isHopeless`: a member is known to be dead, and nothing begins before the verdict. */
  constructor(base: Operations, member: Member, call: GuardedCall, form: CollectiveForm, isHopeless: boolean) {
    super();
    this.#base = base;
    this.#comm = member.comm;
    this.#call = call;
    this.#isPromised = form === "nonblocking";
    this.#isSynchronisation = isSynchronisation(call, form);
    const early = isHopeless ? null : earlyCallOf(member.comm, call, form);
    this.#form = this.#isPromised ? member.comm.promiseCollective() : form;
    this.#turn = member.enter(Purpose.COLLECTIVE, -1, early);
    if (this.#turn.early !== null) this.#request = this.#start();
  }

  override advance(): boolean {
    const turn = this.#turn;
    if (!turn.isOver) return false;
    if (this.#request < 0) {
      if (turn.error !== 0) return this.#endWithout(turn.error);
      if (this.#isSynchronisation) return true;
      this.#request = this.#start();
    }
    if (!this.#base.isComplete(this.#request)) return false;
    this.error = turn.error || this.#base.errorOf(this.#request);
    this.#base.end(this.#request);
    return true;
  }

  /** The base has not begun, and will not. */
  #endWithout(error: ErrorCode): true {
    if (this.#isPromised) this.#comm.endPromise(this.#form as number);
    this.error = error;
    return true;
  }

  #start(): RecordId {
    return startCall(this.#base, this.#comm, this.#call, this.#form);
  }
}

/** What the layer knows of those whom a task awaits. */
interface KnownPeers {
  /** PROC_FAILED: one of them is dead, and all that it has sent is here. REVOKED: the communicator is. 0: neither. */
  errorOfAwaited(awaited: AwaitedPeers): ErrorCode;
}

/**
 * The making of a communicator, or another task that processes carry out together, if all live that make the call. Of those that it awaits beside
 * them (the leader of the other group) it hears when they are dead.
 */
export class GuardedTask extends Task {
  readonly #task: Task;
  readonly #turn: Pick<Turn, "isOver" | "error">;
  readonly #peers: KnownPeers;

  constructor(task: Task, turn: Pick<Turn, "isOver" | "error">, peers: KnownPeers) {
    super();
    this.#task = task;
    this.#turn = turn;
    this.#peers = peers;
  }

  override advance(process: Process): boolean {
    const task = this.#task;
    if (!this.#turn.isOver) return false;
    task.request = this.request;
    if (this.#turn.error !== 0) {
      task.callOff(process, this.#turn.error);
      this.error = task.error;
      return true;
    }
    if (!this.#isOver(process)) return false;
    this.error = task.error;
    return true;
  }

  #isOver(process: Process): boolean {
    const task = this.#task;
    if (task.advance(process)) return true;
    const { awaited } = task;
    const error = awaited === null || !task.isAwaiting(process) ? 0 : this.#peers.errorOfAwaited(awaited);
    if (error === 0) return false;
    task.abandon(process, error);
    return task.advance(process);
  }

  override get creation(): Creation | null {
    return this.#task.creation;
  }

  /** Before the verdict it awaits nobody but those that the layer waits for. */
  override get awaited(): AwaitedPeers | null {
    return this.#turn.isOver ? this.#task.awaited : null;
  }

  override isAwaiting(process: Process): boolean {
    return this.#turn.isOver && this.#task.isAwaiting(process);
  }

  override abandon(process: Process, error: ErrorCode): void {
    this.#task.abandon(process, error);
  }

  override isStep(comm: Communicator, tag: number): boolean {
    return this.#task.isStep(comm, tag);
  }
}

/** MPI_Comm_agree by the layer: the flags of those that live, and PROC_FAILED at everybody unless all have acknowledged all deaths. */
export class LayerAgree extends Task {
  readonly #task: Agree;
  readonly #turn: Turn;

  constructor(task: Agree, member: Member) {
    super();
    this.#task = task;
    this.#turn = member.enter(Purpose.AGREE, task.flags);
  }

  override advance(): boolean {
    const { isOver, error, verdict } = this.#turn;
    if (!isOver) return false;
    if (verdict !== null) this.#task.flags = verdict.flags;
    this.#task.error = error;
    this.error = error;
    return true;
  }
}

/** Candidates in one verdict: one for each bit of its flags. */
const candidates = 32;
/** Keeps contexts from those of other communicators of the same parent. */
const shrinkSalt = 0x1b873593;

/** MPI_Comm_shrink by the layer: the verdict says who is dead, and which contexts no member that lives knows. */
export class LayerShrink extends Task {
  readonly #task: Shrink;
  readonly #member: Member;
  #turn: Turn;
  #attempt = 0;

  constructor(task: Shrink, member: Member, process: Process) {
    super();
    this.#task = task;
    this.#member = member;
    this.#turn = this.#enter(process);
  }

  #enter(process: Process): Turn {
    let free = 0;
    for (let bit = 0; bit < candidates; bit++) if (!process.isKnownContext(this.#candidate(bit))) free |= 1 << bit;
    return this.#member.enter(Purpose.SHRINK, free);
  }

  /** Members shrink in the same order. */
  #candidate(bit: number): number {
    const { comm, shrinks } = this.#member;
    return contextCandidate(comm.context ^ shrinkSalt, shrinks, this.#attempt * candidates + bit);
  }

  override advance(process: Process): boolean {
    while (this.#turn.isOver) {
      const { error, verdict } = this.#turn;
      if (error !== 0 || verdict === null) {
        this.#task.error = error;
        this.error = error;
        return true;
      }
      const { flags, dead } = verdict;
      if (flags !== 0) {
        const context = this.#candidate(31 - Math.clz32(flags & -flags));
        this.#member.shrinks++;
        const { group, remote } = this.#member.comm;
        const gone = Group.of(dead);
        this.#task.result = process.addCommunicator(context, group.difference(gone), remote?.difference(gone) ?? null);
        return true;
      }
      this.#attempt++;
      this.#turn = this.#enter(process);
    }
    return false;
  }
}

/** Both halves of an exchange, each over when the layer says so. */
export class LayerExchange extends Task {
  readonly #exchange: Exchange;
  readonly #operations: Operations;

  constructor(exchange: Exchange, operations: Operations) {
    super();
    this.#exchange = exchange;
    this.#operations = operations;
  }

  override advance({ engine }: Process): boolean {
    const { send, receive } = this.#exchange;
    const operations = this.#operations;
    if (!operations.isComplete(send) || !operations.isComplete(receive)) return false;
    for (const field of [R_STATUS_SOURCE, R_STATUS_TAG, R_STATUS_BYTES]) {
      engine.records.put(this.request, field, engine.records.get(receive, field));
    }
    this.error = operations.errorOf(receive) || operations.errorOf(send);
    return true;
  }
}
