/**
 * Attributes of communicators and datatypes, and the program's functions that are called when they are copied and deleted
 * (MPI 5.0 §7.7). Those functions are called one after another by the wrapper in C (callbacks.ts), so copying or deleting all
 * attributes of an object is a chain of continuations. Whoever starts one gets its outcome as the `result` of its own
 * continuation: 0, or the error code of the function that failed.
 */
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { AttributeKey, AttributeSet } from "../../core/comm/attributes.ts";
import type { Program } from "../program.ts";
import { CallKind, type Continuation } from "../waiting/callbacks.ts";
import type { AttributeFunctions, CAttribute } from "./objects.ts";

/** What attributes hang on: a communicator, a datatype. */
export interface Bearer {
  /** As the program's functions get it. */
  readonly handle: number;
  readonly attributes: AttributeSet<AttributeFunctions>;
}

export type CKeyval = AttributeKey<AttributeFunctions>;

/** The ABI's MPI_COMM_NULL_COPY_FN and MPI_COMM_NULL_DELETE_FN, MPI_COMM_DUP_FN; those of datatypes and windows are the same. */
const NULL_FN = 0;
const DUP_FN = 1;

/** Deletes an attribute that is set. When its function fails it stays. */
export function deleteAttribute(program: Program, bearer: Bearer, keyval: CKeyval, then: Continuation): number {
  const { delete: fn, extraState } = keyval.callbacks;
  if (fn === NULL_FN) {
    bearer.attributes.drop(keyval);
    return then.resume(program, ErrorClass.SUCCESS);
  }
  const value = bearer.attributes.get(keyval)!.value as number;
  const args = [bearer.handle, keyval.number, value, extraState];
  return program.callbacks.call(CallKind.ATTRIBUTE_DELETE, fn, args, new Deleted(bearer, keyval, then));
}

/** The object is going: deletes all, last set first. Ends with the first function that fails; then the object stays. */
export function deleteAttributes(program: Program, bearer: Bearer, then: Continuation): number {
  const keyvals = bearer.attributes.list().map(({ keyval }) => keyval);
  return new DeleteNext(bearer, keyvals, then).resume(program, ErrorClass.SUCCESS);
}

/** Gives `to` what the functions say, first set first. When one fails what was copied is deleted again. */
export function copyAttributes(program: Program, from: Bearer, to: Bearer, then: Continuation): number {
  return new CopyNext(from, to, then).resume(program, ErrorClass.SUCCESS);
}

/** For those whose attributes could not all be deleted. */
export const notDeleted = (code: number): MpiError =>
  new MpiError(code, `Cannot delete the attribute: its delete function gave error ${code}`);

/** What a function of the program gave as its error code. Those of MPI are never negative. */
const codeOf = (result: number): number => (result < 0 ? ErrorClass.OTHER : result);

class Deleted implements Continuation {
  private readonly bearer: Bearer;
  private readonly keyval: CKeyval;
  private readonly next: Continuation;

  constructor(bearer: Bearer, keyval: CKeyval, then: Continuation) {
    this.bearer = bearer;
    this.keyval = keyval;
    this.next = then;
  }

  resume(program: Program, result: number): number {
    if (result === ErrorClass.SUCCESS) this.bearer.attributes.drop(this.keyval);
    return this.next.resume(program, codeOf(result));
  }
}

class DeleteNext implements Continuation {
  private readonly bearer: Bearer;
  /** The next is the last. */
  private readonly left: CKeyval[];
  private readonly next: Continuation;

  constructor(bearer: Bearer, left: CKeyval[], then: Continuation) {
    this.bearer = bearer;
    this.left = left;
    this.next = then;
  }

  resume(program: Program, code: number): number {
    if (code !== ErrorClass.SUCCESS) return this.next.resume(program, code);
    const { attributes } = this.bearer;
    for (let keyval = this.left.pop(); keyval !== undefined; keyval = this.left.pop()) {
      // A function may have deleted others.
      if (attributes.get(keyval) !== undefined) return deleteAttribute(program, this.bearer, keyval, this);
    }
    return this.next.resume(program, ErrorClass.SUCCESS);
  }
}

class CopyNext implements Continuation {
  private readonly from: Bearer;
  private readonly to: Bearer;
  /** The next is the last. */
  private readonly left: CAttribute[];
  private readonly next: Continuation;

  constructor(from: Bearer, to: Bearer, then: Continuation) {
    this.from = from;
    this.to = to;
    this.left = from.attributes.list().reverse();
    this.next = then;
  }

  resume(program: Program, code: number): number {
    if (code !== ErrorClass.SUCCESS) return deleteAttributes(program, this.to, new Undone(code, this.next));
    for (let attribute = this.left.pop(); attribute !== undefined; attribute = this.left.pop()) {
      const { keyval, value } = attribute;
      switch (keyval.callbacks.copy) {
        case NULL_FN:
          break;
        case DUP_FN:
          this.to.attributes.put(keyval, value);
          break;
        default:
          return this.call(program, attribute);
      }
    }
    return this.next.resume(program, ErrorClass.SUCCESS);
  }

  private call({ callbacks, ints, memory }: Program, { keyval, value }: CAttribute): number {
    const { copy, extraState } = keyval.callbacks;
    const cells = memory.allocate(8);
    ints.fill(0, cells >> 2, (cells >> 2) + 2);
    const args = [this.from.handle, keyval.number, extraState, value as number, cells, cells + 4];
    return callbacks.call(CallKind.ATTRIBUTE_COPY, copy, args, new Copied(this.to, keyval, cells, this));
  }
}

class Copied implements Continuation {
  private readonly to: Bearer;
  private readonly keyval: CKeyval;
  /** Value and flag, which the function has written. */
  private readonly cells: Pointer;
  private readonly next: Continuation;

  constructor(to: Bearer, keyval: CKeyval, cells: Pointer, then: Continuation) {
    this.to = to;
    this.keyval = keyval;
    this.cells = cells;
    this.next = then;
  }

  resume(program: Program, result: number): number {
    const { ints, memory } = program;
    const value = ints[this.cells >> 2]!;
    const isKept = ints[(this.cells >> 2) + 1] !== 0;
    memory.free(this.cells);
    if (result === ErrorClass.SUCCESS && isKept) this.to.attributes.put(this.keyval, value);
    return this.next.resume(program, codeOf(result));
  }
}

/** After the copies of a failed duplication are gone: what counts is why it failed. */
class Undone implements Continuation {
  private readonly code: number;
  private readonly next: Continuation;

  constructor(code: number, then: Continuation) {
    this.code = code;
    this.next = then;
  }

  resume(program: Program): number {
    return this.next.resume(program, this.code);
  }
}

saves({ Deleted, DeleteNext, CopyNext, Copied, Undone });
