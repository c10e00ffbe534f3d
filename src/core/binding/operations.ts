/**
 * The operations of a program on its process: the one interface between the two faces of MPI (mpi/ for TypeScript, abi/ for C) and
 * the process below them. Every start, look, completion, cancellation and wait of a program goes this way
 * (test/faces.test.ts), so a layer that is to see or to change the actions of programs implements this interface on top of another
 * implementation, and stands in for it: `new Mpi(host, layer)`, `new Program(host, layer)`.
 *
 * An operation has two ends.
 *
 *   start        leaves a request: the number of a record of the process. The short ways (`sendNow`, `receiveNow`, `meet`)
 *                leave none: the operation is over when they say so.
 *   completion   `isComplete` tells that the operation is over, `readOutcome` and `errorOf` how it ended. Exactly one of `end`,
 *                `abandon` and `finishLater` gives the request back; the latter two may be called before it is complete.
 *
 * Promises to the faces: a start never waits and never throws an `MpiError` of its own; a mistake of the world (a peer is dead, the
 * communicator revoked) is the error of the request. `wait`, `waitUntil` and `receiveNow` wait, `look` makes progress, nothing
 * else moves a message of others. No method allocates where its process does not.
 *
 * What the faces promise: arguments are checked (checks.ts), ranks are those of the communicator (PROC_NULL and, for receives and
 * probes, ANY_SOURCE among them), pointers are of the process's memory and stay valid until the request is given back.
 *
 * `ProcessOperations` is the implementation on a process and its world; `testing/watched-operations.ts` is a layer on top of another
 * one, which holds the faces to their promises in all tests of theirs.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { ErrorCode } from "../base/mpi-error.ts";
import type { InterCollective, NeighborCollective } from "../coll/inter/plan-inter.ts";
import type { Collective } from "../coll/plan.ts";
import type { Group } from "../comm/group.ts";
import type { Choices } from "../ft/choices.ts";
import type { CollectiveForm, EqualCall, EqualKind, ReductionKind } from "../process/collective-form.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Reduction } from "../process/reduction.ts";
import type { Asked } from "../process/reductions-under-way.ts";
import type { Task } from "../process/task.ts";
import type { SendMode } from "../request/records.ts";
import type { Leftover } from "./finish-later.ts";

/** The answers of `receiveNow`. */
export { Now } from "../p2p/engine.ts";

/** How an operation ended. Those that received no message have source ANY_SOURCE, tag ANY_TAG and no bytes. */
export interface MessageOutcome {
  /** Rank in the communicator, or PROC_NULL. */
  source: number;
  tag: number;
  bytes: number;
  error: number;
  cancelled: boolean;
}

/** A process that can be dead to its program and live on (core/fault-layer). */
export interface SimulatedDeath {
  readonly isDead: boolean;
  /** Asked before each call of the program: shall the process die in it? Null: its program alone makes it die. */
  readonly isDue: (() => boolean) | null;
  /** From now on, for everybody: nothing of the program may run any more. */
  die(): void;
  /** The process has served to the end of all. */
  readonly isOver: boolean;
}

export interface Operations {
  // Messages

  /** The short way of a standard send: true when the whole message has left, and the buffer is free. Never to PROC_NULL. */
  sendNow(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): boolean;
  startSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number, mode: SendMode): RecordId;
  /**
   * The short way of a blocking receive, which waits: one of `Now`. DONE: see `last…`. MUST_POST: only a receive that is started
   * can take the message. NOTHING: the process shall stop inside the call (C programs only). Never from PROC_NULL.
   */
  receiveNow(comm: Communicator, to: Pointer, room: number, source: number, tag: number): number;
  /** Of the last `receiveNow` that was DONE: the rank of the sender in that communicator. */
  lastSource(comm: Communicator): number;
  readonly lastTag: number;
  readonly lastBytes: number;
  readonly lastError: number;
  startReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId;
  /** Requests that are complete from their start: a data plane has received a message, or nothing from PROC_NULL; or it has sent one. */
  startReceived(comm: Communicator, source: number, tag: number, bytes: number): RecordId;
  startSent(): RecordId;

  // Partitioned messages match each other only: they travel in a context of their own, under tags of their own

  /** A send whose partitions are not all ready: complete only when the communicator is revoked. `endHeld` gives it back. */
  startHeld(comm: Communicator): RecordId;
  /** The partitions are ready, and a send of its own takes the place of this request. */
  endHeld(request: RecordId): void;
  startPartitionedSend(comm: Communicator, from: Pointer, bytes: number, dest: number, tag: number): RecordId;
  startPartitionedReceive(comm: Communicator, to: Pointer, room: number, source: number, tag: number): RecordId;

  // Probes find the envelope of a message that has arrived

  /** The oldest message that such a receive would take, which stays where it is; −1: none has arrived. */
  probe(comm: Communicator, source: number, tag: number): RecordId;
  /** The error of such a probe when no message can come any more; 0: one can. */
  probeError(comm: Communicator, source: number): ErrorCode;
  /** What names a message in every life of the process: world rank of its source, and its number. */
  messageNumber(envelope: RecordId): readonly [source: number, number: number];
  /** The message of that name, if it has arrived; −1: it has not. */
  numberedMessage(source: number, number: number): RecordId;
  readEnvelope(comm: Communicator, envelope: RecordId, into: MessageOutcome): void;
  /** Only `startMatchedReceive` can take the message from now on. */
  setAside(envelope: RecordId): void;
  startMatchedReceive(to: Pointer, room: number, envelope: RecordId): RecordId;

  // Collectives, in packed bytes; see core/process/collectives.ts

  startEqual(comm: Communicator, kind: EqualKind, send: Pointer, receive: Pointer, call: EqualCall): RecordId;
  startReduction(
    comm: Communicator,
    kind: ReductionKind,
    send: Pointer,
    receive: Pointer,
    call: EqualCall,
    reduction: Reduction,
  ): RecordId;
  /** Blocks of different lengths. */
  startBlocks(
    comm: Communicator,
    collective: Collective | InterCollective,
    send: Pointer,
    receive: Pointer,
    reduction: Reduction | null,
    form: CollectiveForm,
    error?: ErrorCode,
  ): RecordId;
  startNeighbor(
    comm: Communicator,
    collective: NeighborCollective,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm,
  ): RecordId;
  /** May a program come to boards by `meet`? Otherwise all its collectives are started. */
  readonly hasShortWay: boolean;
  /**
   * The short way of a barrier (null) and of an allreduce whose operands are in this rank's part of the communicator's board: comes
   * to the meeting. True: every member is there, and the result too. False: the gate will open (`Host.waitForGate`).
   */
  meet(comm: Communicator, reduction: Reduction | null, bytes: number): boolean;
  /** This rank refuses the arguments of a collective on that communicator, and takes no part in it. */
  refuse(comm: Communicator): void;
  /** into = left ∘ right in this process alone, at once. */
  combine(reduction: Reduction, left: Pointer, right: Pointer, into: Pointer, count: number): void;
  /** Operations under way that need the program to combine. */
  readonly programReductions: number;
  /** What the program is to combine next; null: nothing. */
  readonly asked: Asked | null;
  takeAsked(): Asked;
  answered(asked: Asked): void;

  // Operations of several steps, and those of the program's own

  startTask(task: Task): RecordId;
  /** The last thing that a process does: see `Process.startFinalBarrier`. Its request stays. */
  startFinalBarrier(): RecordId;
  /** An operation of the program's own: `completeOwn` ends it. */
  startOwn(): RecordId;
  /** `bytes`: what its outcome tells as the length of a message. */
  completeOwn(request: RecordId, bytes?: number): void;
  /** The error that an operation of the program's own, which is complete, ends with. */
  failOwn(request: RecordId, error: ErrorCode): void;

  // Ends of communicators, and deaths of their members

  /** Nothing new is started on the communicator; operations under way go on. */
  freeCommunicator(comm: Communicator): void;
  /** Is any operation of the communicator under way? */
  isUsing(comm: Communicator): boolean;
  /** The processes of a spawn take leave of each other; `freeCommunicator` follows. */
  disconnect(comm: Communicator): void;
  /** Every operation on the communicator ends, in every member. */
  revoke(comm: Communicator): void;
  /** Has this process heard that the communicator is revoked? */
  isRevoked(comm: Communicator): boolean;
  /** Null: nobody in this job dies for the program alone. */
  readonly simulatedDeath: SimulatedDeath | null;
  /** How many processes of the job are known to be dead. */
  readonly deaths: number;
  /** The dead members of a communicator, in the order of their deaths. */
  failedOf(comm: Communicator): Group;
  /** The program knows of the first `count` of them. Gives how many it knows of now. */
  acknowledge(comm: Communicator, count: number): number;
  acknowledgedOf(comm: Communicator): Group;

  // Completion

  isComplete(request: RecordId): boolean;
  /** The program is about to hear that a request is complete, and the request stays. */
  show(request: RecordId): void;
  errorOf(request: RecordId): ErrorCode;
  /**
   * Is it a receive from ANY_SOURCE that has ended with PROC_FAILED_PENDING? It is posted again when the program acknowledges the dead,
   * unless it is given back before.
   */
  isStalled(request: RecordId): boolean;
  /** Length of the message that a complete receive took. */
  bytesOf(request: RecordId): number;
  /** `tellsMessage`: its outcome is that of a message although it is no receive. */
  readOutcome(comm: Communicator, request: RecordId, into: MessageOutcome, tellsMessage?: boolean): void;
  /** Is it the request of one message? */
  isMessage(request: RecordId): boolean;
  /** Gives a complete request back, and ends the loan of its buffer. */
  end(request: RecordId): void;
  /** The program does not want the outcome of the request, which is given back when it is complete. */
  abandon(request: RecordId): void;
  /** The same, and `leftover` is done when it is complete. */
  finishLater(request: RecordId, leftover: Leftover): void;
  /** Asks that a message be cancelled. Its request completes in any case, and its outcome says whether it was. */
  cancel(request: RecordId): void;
  /** The observer of the program's choices, which may know those of an earlier life (choices.ts); null: there is none. */
  readonly choices: Choices | null;
  /** The same for readings of clocks, which some protocols share that share nothing else. */
  readonly clocks: Choices | null;

  // Waiting, as the world does it

  /** False: the request is not complete, and the process shall stop inside the call (C programs only). */
  wait(request: RecordId): boolean;
  waitUntil(isReady: () => boolean): boolean;
  /** Progress for a call that only looks: the program goes on, and may look again at once. */
  look(): void;
  /** Moves whatever can move; true when anything did. */
  progress(): boolean;
}
