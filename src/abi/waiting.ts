/**
 * How an import waits for a request and what it does then. Most requests need nothing of the program meanwhile and the
 * thread just waits. A reduction by one of the program's own operations does: the wait is interrupted for the callback and
 * taken up again behind it.
 */
import type { Pointer, RecordId } from "../core/base/brand.ts";
import type { Datatype } from "../core/comm/datatype.ts";
import { pack, unpack } from "../core/comm/pack.ts";
import type { Asked } from "../core/process/collectives.ts";
import { CallKind, type Continuation } from "./callbacks.ts";
import type { FunctionPointer } from "./objects.ts";
import type { Program } from "./program.ts";

/** Waits until the request is complete, then goes on with `then`. The answer is the import's. */
export function waitThen(program: Program, record: RecordId, then: Continuation): number {
  const { engine, host, process } = program;
  const { collectives } = process;
  if (!engine.isComplete(record)) {
    if (collectives.programOperations === 0) host.wait(record);
    else {
      host.waitUntil(() => engine.isComplete(record) || collectives.asked !== null);
      if (!engine.isComplete(record)) return combine(program, new WaitOn(record, then));
    }
  }
  return then.resume(program, 0);
}

/** The same for any condition: waits until `isReady`. */
export function waitUntilThen(program: Program, isReady: () => boolean, then: Continuation): number {
  const { host, process } = program;
  const { collectives } = process;
  if (collectives.programOperations === 0) host.waitUntil(isReady);
  else {
    host.waitUntil(() => isReady() || collectives.asked !== null);
    if (!isReady()) return combine(program, new WaitUntilOn(isReady, then));
  }
  return then.resume(program, 0);
}

/** Does what the program's operations are needed for now, if anything, then goes on: for calls that only look. */
export function combineThen(program: Program, then: Continuation): number {
  program.process.progress();
  return program.process.collectives.asked === null ? then.resume(program, 0) : combine(program, new LookOn(then));
}

class WaitOn implements Continuation {
  private readonly record: RecordId;
  private readonly next: Continuation;

  constructor(record: RecordId, then: Continuation) {
    this.record = record;
    this.next = then;
  }

  resume(program: Program): number {
    return waitThen(program, this.record, this.next);
  }
}

class WaitUntilOn implements Continuation {
  private readonly isReady: () => boolean;
  private readonly next: Continuation;

  constructor(isReady: () => boolean, then: Continuation) {
    this.isReady = isReady;
    this.next = then;
  }

  resume(program: Program): number {
    return waitUntilThen(program, this.isReady, this.next);
  }
}

class LookOn implements Continuation {
  private readonly next: Continuation;

  constructor(then: Continuation) {
    this.next = then;
  }

  resume(program: Program): number {
    return combineThen(program, this.next);
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
  const { ints, memory, process, callbacks } = program;
  const asked = process.collectives.takeAsked();
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
  unpack(type, count, bytes, packed, bytes, at - type.trueLb);
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

  resume(program: Program): number {
    const { memory, bytes, process } = program;
    const { type } = this.asked.call as ProgramCall;
    pack(type, this.asked.count, bytes, this.right - type.trueLb, bytes, this.asked.into);
    for (const pointer of [this.left, this.right, this.cells]) memory.free(pointer);
    process.collectives.answered(this.asked);
    return this.next.resume(program, 0);
  }
}
