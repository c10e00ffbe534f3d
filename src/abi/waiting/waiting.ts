/**
 * How an import waits and what it does then. Most of the time nothing is needed of the program meanwhile and the thread
 * just waits. Two things interrupt it: a reduction by one of the program's own operations, which the program must be called
 * for, and the wish that the process stop here (suspension.ts). Either way the wait is taken up again later, so what it waits
 * for and what it does then are plain data.
 */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { pack, unpack } from "../../core/comm/datatype/pack.ts";
import type { Outcome } from "../../core/ft/choices.ts";
import type { Asked } from "../../core/process/reductions-under-way.ts";
import type { FunctionPointer } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import { CallKind, type Continuation } from "./callbacks.ts";

/** What can be waited for. Plain data. */
export interface Condition {
  isReady(program: Program): boolean;
}

/** Waits until the request is complete, then goes on with `then`. The answer is the import's. */
export function waitThen(program: Program, record: RecordId, then: Continuation): number {
  const { operations } = program;
  if (!operations.isComplete(record)) {
    const isReady = () => operations.isComplete(record) || operations.asked !== null;
    const isOver = operations.programReductions === 0 ? operations.wait(record) : operations.waitUntil(isReady);
    if (!isOver) return program.suspension.stop(new WaitOn(record, then), isReady);
    if (!operations.isComplete(record)) return combine(program, new WaitOn(record, then));
  }
  return then.resume(program, 0);
}

/** The same for any condition. */
export function waitForThen(program: Program, condition: Condition, then: Continuation): number {
  const isReady = () => condition.isReady(program);
  const outcome = waitFor(program, isReady);
  if (outcome === "stop") return program.suspension.stop(new WaitForOn(condition, then), orAsked(program, isReady));
  if (outcome === "combine") return combine(program, new WaitForOn(condition, then));
  return then.resume(program, 0);
}

/**
 * For calls that change nothing before they are over: waits until `isReady`, then `finish`. When the wait is interrupted the
 * whole call is made again.
 */
export function waitUntil(program: Program, isReady: () => boolean, finish: () => number, again: CallAgain): number {
  program.again = again;
  const outcome = waitFor(program, isReady);
  if (outcome === "stop") return program.suspension.stop(again, orAsked(program, isReady));
  return outcome === "combine" ? combine(program, again) : finish();
}

/** The same for one request, in fewer steps: most waits are this one. */
export function waitForOne(program: Program, record: RecordId, finish: () => number, again: CallAgain): number {
  const { operations } = program;
  if (operations.isComplete(record)) return finish();
  if (operations.programReductions !== 0) {
    return waitUntil(program, () => operations.isComplete(record), finish, again);
  }
  if (operations.wait(record)) return finish();
  return program.suspension.stop(again, () => operations.isComplete(record));
}

/** The same for calls that only look. */
export function look(program: Program, finish: () => number, again: CallAgain): number {
  return interrupted(program, again) ?? finish();
}

/** For those of them that are called again and again: null when nothing stands between the call and its answer. */
export function interrupted(program: Program, again: CallAgain): number | null {
  program.operations.look();
  return program.operations.asked === null ? null : combine(program, again);
}

function waitFor({ operations }: Program, isReady: () => boolean): "ready" | "combine" | "stop" {
  if (operations.programReductions === 0) return operations.waitUntil(isReady) ? "ready" : "stop";
  if (!operations.waitUntil(() => isReady() || operations.asked !== null)) return "stop";
  return isReady() ? "ready" : "combine";
}

/** Whoever waits for anything may be needed for a reduction meanwhile. */
const orAsked =
  ({ operations }: Program, isReady: () => boolean) =>
  (): boolean =>
    isReady() || operations.asked !== null;

/** Makes a call from its beginning. */
export class CallAgain implements Continuation {
  readonly name: string;
  readonly args: readonly number[];
  /** What the call has already taken from a replay (choices.ts); undefined: nothing. */
  known: Outcome | undefined = undefined;

  constructor(name: string, ...args: readonly number[]) {
    this.name = name;
    this.args = args;
  }

  resume(program: Program): number {
    program.owner = program.anyone;
    program.known = this.known;
    try {
      return program.calls[this.name]!(...this.args);
    } finally {
      program.known = undefined;
    }
  }
}

class WaitOn implements Continuation {
  private readonly record: RecordId;
  private readonly next: Continuation;

  constructor(record: RecordId, then: Continuation) {
    this.record = record;
    this.next = then;
  }

  resume(program: Program): number {
    program.process.inquiries.unblock();
    return waitThen(program, this.record, this.next);
  }
}

class WaitForOn implements Continuation {
  private readonly condition: Condition;
  private readonly next: Continuation;

  constructor(condition: Condition, then: Continuation) {
    this.condition = condition;
    this.next = then;
  }

  resume(program: Program): number {
    return waitForThen(program, this.condition, this.next);
  }
}

/** What a reduction by one of the program's operations carries with it, as `Reduction.call`. */
export interface ProgramCall {
  readonly function: FunctionPointer;
  readonly type: Datatype;
  /** The program's handle of the type. */
  readonly handle: number;
}

/** Has the program combine what a collective waits for: inout = in ∘ inout (MPI 5.0 §6.9.5). */
function combine(program: Program, then: Continuation): number {
  const { ints, memory, operations, callbacks } = program;
  const asked = operations.takeAsked();
  const { function: fn, type, handle } = asked.call as ProgramCall;
  // Copies of both sides, spread out as the function expects them: it writes over its right one.
  const left = spread(program, type, asked.left, asked.count);
  const right = spread(program, type, asked.right, asked.count);
  const cells = memory.allocate(16);
  // The length is right for functions that take an int, and for those that take an MPI_Count.
  ints[cells >> 2] = asked.count;
  ints[(cells >> 2) + 1] = 0;
  ints[(cells >> 2) + 2] = handle;
  const origin = -type.trueLb;
  const args = [left + origin, right + origin, cells, cells + 8];
  return callbacks.call(CallKind.OPERATION, fn, args, new AfterCombining(asked, left, right, cells, then));
}

function spread({ memory, bytes }: Program, type: Datatype, packed: Pointer, count: number): Pointer {
  const at = memory.allocate((count - 1) * type.extent + type.trueExtent);
  unpack({ bytes, offset: packed }, { type, count, bytes, offset: at - type.trueLb });
  return at;
}

class AfterCombining implements Continuation {
  private readonly asked: Asked;
  private readonly left: Pointer;
  private readonly right: Pointer;
  private readonly cells: Pointer;
  private readonly next: Continuation;

  constructor(asked: Asked, left: Pointer, right: Pointer, cells: Pointer, then: Continuation) {
    this.asked = asked;
    this.left = left;
    this.right = right;
    this.cells = cells;
    this.next = then;
  }

  get combines(): boolean {
    return true;
  }

  resume(program: Program): number {
    const { memory, bytes, operations } = program;
    const { type } = this.asked.call as ProgramCall;
    pack(
      { type, count: this.asked.count, bytes, offset: this.right - type.trueLb },
      { bytes, offset: this.asked.into },
    );
    for (const pointer of [this.left, this.right, this.cells]) memory.free(pointer);
    operations.answered(this.asked);
    return this.next.resume(program, 0);
  }
}

saves({ CallAgain, WaitOn, WaitForOn, AfterCombining });
