/**
 * The operations of a program in TypeScript whose process dies by itself, for the program alone: whatever the program starts, looks at or waits for
 * is a place where the process may die (thesis §5.3.6). Programs in C are asked before their calls instead: abi/mortal-calls.ts.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { ErrorCode } from "../base/mpi-error.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Collective } from "../coll/plan.ts";
import type { CollectiveForm, EqualCall, EqualKind, ReductionKind } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Reduction } from "../process/reduction.ts";
import type { Task } from "../process/task.ts";
import type { SendMode } from "../request/records.ts";
import type { Operations } from "./operations.ts";
import { PassingOperations } from "./passing-operations.ts";

export class MortalOperations extends PassingOperations {
  readonly #die: () => never;

  /** `die` makes the process dead, and does not return. */
  constructor(base: Operations, die: () => never) {
    super(base);
    this.#die = die;
  }

  #mayDie(): void {
    const death = this.base.simulatedDeath;
    if (death !== null && !death.isDead && death.isDue?.() === true) this.#die();
  }

  override startSend(
    comm: Communicator,
    from: Pointer,
    bytes: number,
    dest: number,
    tag: number,
    mode: SendMode,
  ): RecordId {
    this.#mayDie();
    return super.startSend(comm, from, bytes, dest, tag, mode);
  }

  override startReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId {
    this.#mayDie();
    return super.startReceive(comm, to, room, source, tag);
  }

  override probe(comm: Communicator, source: number, tag: number): RecordId {
    this.#mayDie();
    return super.probe(comm, source, tag);
  }

  override startEqual(comm: Communicator, kind: EqualKind, send: Pointer, receive: Pointer, call: EqualCall): RecordId {
    this.#mayDie();
    return super.startEqual(comm, kind, send, receive, call);
  }

  override startReduction(
    comm: Communicator,
    kind: ReductionKind,
    send: Pointer,
    receive: Pointer,
    call: EqualCall,
    reduction: Reduction,
  ): RecordId {
    this.#mayDie();
    return super.startReduction(comm, kind, send, receive, call, reduction);
  }

  override startBlocks(
    comm: Communicator,
    collective: Collective | InterCollective,
    send: Pointer,
    receive: Pointer,
    reduction: Reduction | null,
    form: CollectiveForm,
    error?: ErrorCode,
  ): RecordId {
    this.#mayDie();
    return super.startBlocks(comm, collective, send, receive, reduction, form, error);
  }

  override startNeighbor(
    comm: Communicator,
    collective: NeighborCollective,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm,
  ): RecordId {
    this.#mayDie();
    return super.startNeighbor(comm, collective, send, receive, form);
  }

  override startTask(task: Task): RecordId {
    this.#mayDie();
    return super.startTask(task);
  }

  override look(): void {
    this.#mayDie();
    super.look();
  }

  override wait(request: RecordId): boolean {
    this.#mayDie();
    return super.wait(request);
  }
}
