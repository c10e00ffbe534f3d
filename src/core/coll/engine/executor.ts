/**
 * Runs collectives: takes each operation's compiled schedule (compiled-schedule.ts) round by round, any number of operations side by
 * side.
 *
 * `start` posts the first round, `progress` moves every operation as far as possible. A round begins when the one before is
 * complete on this rank; ranks may be several rounds apart, which is harmless because messages match by order. The state is
 * plain data, see `operation.ts`; a round allocates nothing.
 *
 * An error in a message ends its operation: messages still under way are cancelled, and the operation is reported when the last
 * message has ended. Not before: a matched receive writes into the program's buffer and a peer may read announced bytes from
 * it, while the program may use its buffers again after the report. Other operations are not affected.
 *
 * A message whose length differs from the schedule's is another case: ranks have called the collective with counts that do not
 * match. The operation goes on with the bytes at hand, so that no rank waits for a message of this one, and is reported as
 * truncated when it is over.
 */
import { assert } from "../../base/assert.ts";
import type { Pointer, RecordId } from "../../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../../base/mpi-error.ts";
import { lives } from "../../base/saved-classes.ts";
import { type CollectivePorts, shorter, underWay } from "./collective-ports.ts";
import { BufferCode, localWords, messageWords, StepCode } from "./compiled-schedule.ts";
import { type Operation, type OperationCall, type OperationId, Phase } from "./operation.ts";

/** Bound of the operations outstanding in one process. A program with more has lost its requests. */
const operationsMax = 1 << 16;

const noPointer = 0 as Pointer;

export class Executor {
  private readonly ports: CollectivePorts;
  /** Every operation ever needed at once, by id; operations not in use are in `free`. */
  private readonly operations: Operation[] = [];
  private readonly free: Operation[] = [];
  /** In the order they were started. */
  private readonly running: Operation[] = [];

  constructor(ports: CollectivePorts) {
    this.ports = ports;
  }

  /** How many operations are under way. */
  get active(): number {
    return this.running.length;
  }

  /** Starts an operation. It may be over, and reported, when this returns. */
  start(call: OperationCall): OperationId {
    const operation = this.take(call);
    const { scratchBytes } = call.program;
    operation.scratch = scratchBytes > 0 ? this.ports.allocate(scratchBytes) : noPointer;
    this.ports.begun(operation);
    this.running.push(operation);
    this.advance(operation);
    if (operation.phase === Phase.DONE && this.running.at(-1) === operation) {
      this.running.pop();
      this.give(operation);
    }
    return operation.id;
  }

  /** Moves all operations on. True if any of them moved. */
  progress(): boolean {
    let moved = false;
    let done = 0;
    for (let index = 0; index < this.running.length; index++) {
      const operation = this.running[index]!;
      if (this.advance(operation)) moved = true;
      if (operation.phase === Phase.DONE) done++;
    }
    if (done > 0) this.sweep();
    return moved;
  }

  /** The program has done the combination that the port's `reduce` left to it. */
  reduced(id: OperationId): void {
    const operation = this.operations[id];
    const isAsked = operation?.phase === Phase.REDUCING || operation?.phase === Phase.REDUCING_FAILED;
    assert(operation !== undefined && isAsked, `operation ${id} did not ask the program to combine anything`);
    operation.phase = operation.phase === Phase.REDUCING ? Phase.RUNNING : Phase.FAILED;
  }

  /**
   * Ends the operations of a communicator with an error. An operation that waits for the program's combination fails after it.
   */
  end(channel: number, error: ErrorCode): void {
    for (const operation of this.running) {
      if (operation.channel === channel) this.giveUp(operation, error);
    }
  }

  /** Those under way, in the order they were started. */
  get underWay(): readonly Operation[] {
    return this.running;
  }

  /** Ends one operation with an error; if the program combines for it, afterwards. */
  giveUp(operation: Operation, error: ErrorCode): void {
    if (operation.phase === Phase.RUNNING) this.fail(operation, error);
    else if (operation.phase === Phase.REDUCING) {
      operation.phase = Phase.REDUCING_FAILED;
      operation.error = error;
    }
  }

  private take(call: OperationCall): Operation {
    const operation = this.free.pop() ?? this.make(this.operations.length as OperationId);
    // Field by field: an operation keeps its shape and its array of records.
    const target = operation as { -readonly [Field in keyof OperationCall]: OperationCall[Field] };
    target.program = call.program;
    target.channel = call.channel;
    target.tag = call.tag;
    target.turn = call.turn;
    target.reduction = call.reduction;
    target.request = call.request;
    target.send = call.send;
    target.receive = call.receive;
    target.exact = call.exact;
    operation.phase = Phase.RUNNING;
    operation.nextRound = 0;
    operation.localsLeft = 0;
    operation.recordCount = 0;
    operation.error = call.error;
    operation.numbers.length = 0;
    operation.nextNumber = 0;
    return operation;
  }

  private make(id: OperationId): Operation {
    assert(id < operationsMax, `${operationsMax} collective operations are outstanding`);
    const operation: Operation = {
      id,
      program: nothing,
      channel: 0,
      tag: 0,
      turn: 0,
      reduction: 0,
      request: 0,
      send: noPointer,
      receive: noPointer,
      exact: false,
      phase: Phase.FREE,
      nextRound: 0,
      nextLocal: 0,
      localsLeft: 0,
      records: [],
      recordCount: 0,
      scratch: noPointer,
      error: 0,
      numbers: [],
      nextNumber: 0,
    };
    this.operations[id] = operation;
    return operation;
  }

  private give(operation: Operation): void {
    operation.phase = Phase.FREE;
    this.free.push(operation);
  }

  /** Takes finished operations out of the list. */
  private sweep(): void {
    let kept = 0;
    for (let index = 0; index < this.running.length; index++) {
      const operation = this.running[index]!;
      if (operation.phase === Phase.DONE) this.give(operation);
      else this.running[kept++] = operation;
    }
    this.running.length = kept;
  }

  /** Moves one operation as far as possible. True if it moved. */
  private advance(operation: Operation): boolean {
    const { phase } = operation;
    if (phase === Phase.DONE || phase === Phase.REDUCING || phase === Phase.REDUCING_FAILED) return false;
    let moved = this.collect(operation);
    while (operation.recordCount === 0) {
      moved = true;
      if (operation.phase !== Phase.FAILED && !this.runLocals(operation)) break;
      if (operation.phase === Phase.FAILED || !this.post(operation)) {
        this.release(operation);
        this.ports.finished(operation, operation.error);
        break;
      }
      this.collect(operation);
    }
    return moved;
  }

  /** Asks about the messages under way. True if one of them has ended. */
  private collect(operation: Operation): boolean {
    const { records } = operation;
    const before = operation.recordCount;
    for (let index = 0; index < operation.recordCount; ) {
      const error = this.ports.complete(operation, records[index] as RecordId);
      if (error === underWay) {
        index++;
        continue;
      }
      records[index] = records[--operation.recordCount]!;
      if (error !== 0 && operation.phase !== Phase.FAILED) this.ended(operation, error);
    }
    return operation.recordCount < before;
  }

  /** A message has ended in another way than the schedule expects. */
  private ended(operation: Operation, error: ErrorCode | typeof shorter): void {
    if (error === ErrorClass.TRUNCATE || (error === shorter && operation.exact)) operation.error = ErrorClass.TRUNCATE;
    else if (error !== shorter) this.fail(operation, error);
  }

  private fail(operation: Operation, error: ErrorCode): void {
    operation.phase = Phase.FAILED;
    operation.error = error;
    for (let index = 0; index < operation.recordCount; index++) {
      this.ports.cancel(operation.records[index] as RecordId);
    }
  }

  private release(operation: Operation): void {
    operation.phase = Phase.DONE;
    if (operation.program.scratchBytes > 0) this.ports.free(operation.scratch);
  }

  /** Starts the next round's messages. False when there is no further round. */
  private post(operation: Operation): boolean {
    const { words } = operation.program;
    let at = operation.nextRound;
    const messages = words[at]!;
    if (messages < 0) return false;
    operation.localsLeft = words[at + 1]!;
    at += 2;
    for (let message = 0; message < messages; message++, at += messageWords) {
      const code = words[at]!;
      const local = code >= StepCode.LOCAL_GROUP;
      const pointer = pointerOf(operation, words[at + 2]!);
      const record =
        code === StepCode.SEND || code === StepCode.SEND + StepCode.LOCAL_GROUP
          ? this.ports.send(operation, words[at + 1]!, local, pointer, words[at + 3]!, words[at + 4]!)
          : this.ports.receive(operation, words[at + 1]!, local, pointer, words[at + 3]!, words[at + 4]!);
      operation.records[operation.recordCount++] = record;
    }
    operation.nextLocal = at;
    operation.nextRound = at + operation.localsLeft * localWords;
    return true;
  }

  /** Copies and combines, after the round's messages. False when the program has to combine first. */
  private runLocals(operation: Operation): boolean {
    const { words } = operation.program;
    while (operation.localsLeft > 0) {
      const at = operation.nextLocal;
      operation.nextLocal += localWords;
      operation.localsLeft--;
      const bytes = words[at + 1]!;
      const first = pointerOf(operation, words[at + 2]!);
      const second = pointerOf(operation, words[at + 4]!);
      if (words[at] === StepCode.COPY) {
        this.ports.copy(second, words[at + 5]!, first, words[at + 3]!, bytes);
        continue;
      }
      const left = (first + words[at + 3]!) as Pointer;
      const right = (second + words[at + 5]!) as Pointer;
      const into = (pointerOf(operation, words[at + 6]!) + words[at + 7]!) as Pointer;
      // Set before the call, so that the program finds the operation in this state.
      operation.phase = Phase.REDUCING;
      if (!this.ports.reduce(operation, left, right, into, bytes)) return false;
      operation.phase = Phase.RUNNING;
    }
    return true;
  }
}

const nothing = { words: Float64Array.of(-1), scratchBytes: 0, call: undefined };

function pointerOf(operation: Operation, buffer: number): Pointer {
  if (buffer === BufferCode.send) return operation.send;
  return buffer === BufferCode.receive ? operation.receive : operation.scratch;
}

lives({ Executor });
