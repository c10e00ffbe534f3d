/**
 * Attributes that programs attach to communicators, datatypes and windows (MPI 5.0 §7.7), and the keyvals that identify them.
 *
 * The caller calls the callbacks: every operation that may need one takes a function for it. A binding whose callbacks cannot
 * be called from here (C programs, whose callbacks may wait) takes the steps itself: `list`, then `put` or `drop` one by one.
 * In either case delete callbacks run last set first, which the standard demands for COMM_SELF and leaves open elsewhere; copy
 * callbacks run in the order of setting.
 */
import { ErrorClass, type ErrorCode, MpiError } from "../base/mpi-error.ts";
import { lives, saves } from "../base/saved-classes.ts";

export type AttributeOwner = "communicator" | "datatype" | "window";

/** The result of a copy callback: the value of the duplicate, no value, or an error code. */
export type CopyOutcome = { readonly kind: "keep"; readonly value: unknown } | { readonly kind: "drop" } | Failure;
/** A callback failed: its error code becomes that of the call. */
export interface Failure {
  readonly kind: "error";
  readonly code: ErrorCode;
}
export type DeleteOutcome = { readonly kind: "done" } | Failure;

/** The callbacks in the caller's form: functions, table indices, or names of the predefined ones. */
export interface AttributeKey<Callbacks = unknown> {
  /** The program's number of the keyval. Never used again after the keyval is freed. */
  readonly number: number;
  readonly owner: AttributeOwner;
  readonly callbacks: Callbacks;
}

export interface Attribute<Callbacks = unknown> {
  readonly keyval: AttributeKey<Callbacks>;
  readonly value: unknown;
}

/** Numbers below are the standard's own keyvals (TAG_UB …). */
const firstNumber = 0x1000;

/** The keyvals of one process. A freed keyval is removed here and lives on in the attributes that have it. */
export class Keyvals<Callbacks = unknown> {
  private readonly keyvals = new Map<number, AttributeKey<Callbacks>>();
  private next = firstNumber;

  create(owner: AttributeOwner, callbacks: Callbacks): AttributeKey<Callbacks> {
    const keyval = { number: this.next++, owner, callbacks };
    this.keyvals.set(keyval.number, keyval);
    return keyval;
  }

  find(number: number, owner: AttributeOwner): AttributeKey<Callbacks> {
    const keyval = this.keyvals.get(number);
    if (keyval?.owner === owner) return keyval;
    const state = keyval === undefined ? "there is none with that number" : `it is for a ${keyval.owner}`;
    throw new MpiError(ErrorClass.KEYVAL, `Cannot use keyval ${number} for a ${owner}: ${state}`);
  }

  free(number: number, owner: AttributeOwner): void {
    this.keyvals.delete(this.find(number, owner).number);
  }
}

type CallCopy<Callbacks> = (attribute: Attribute<Callbacks>) => CopyOutcome;
type CallDelete<Callbacks> = (attribute: Attribute<Callbacks>) => DeleteOutcome;

const done: DeleteOutcome = { kind: "done" };

/** The attributes of one object. */
export class AttributeSet<Callbacks = unknown> {
  /** In the order of setting: a value that is replaced moves to the end. */
  private readonly attributes = new Map<AttributeKey<Callbacks>, Attribute<Callbacks>>();

  get(keyval: AttributeKey<Callbacks>): Attribute<Callbacks> | undefined {
    return this.attributes.get(keyval);
  }

  /** First set first. */
  list(): Attribute<Callbacks>[] {
    return [...this.attributes.values()];
  }

  /** Sets without any callback. */
  put(keyval: AttributeKey<Callbacks>, value: unknown): void {
    this.attributes.delete(keyval);
    this.attributes.set(keyval, { keyval, value });
  }

  /** Removes without any callback. */
  drop(keyval: AttributeKey<Callbacks>): void {
    this.attributes.delete(keyval);
  }

  /** An old value is deleted first; when its callback fails, it stays and the new one is not set. */
  set(keyval: AttributeKey<Callbacks>, value: unknown, callDelete: CallDelete<Callbacks>): DeleteOutcome {
    const outcome = this.attributes.has(keyval) ? this.delete(keyval, callDelete) : done;
    if (outcome.kind === "done") this.put(keyval, value);
    return outcome;
  }

  /** When the callback fails the attribute stays. */
  delete(keyval: AttributeKey<Callbacks>, callDelete: CallDelete<Callbacks>): DeleteOutcome {
    const attribute = this.attributes.get(keyval);
    if (attribute === undefined) {
      throw new MpiError(ErrorClass.KEYVAL, `Cannot delete the attribute of keyval ${keyval.number}: it is not set`);
    }
    const outcome = callDelete(attribute);
    if (outcome.kind === "done") this.attributes.delete(keyval);
    return outcome;
  }

  /**
   * For an object that is freed: deletes all attributes, last set first. Stops at the first callback that fails; then the
   * object stays.
   */
  clear(callDelete: CallDelete<Callbacks>): DeleteOutcome {
    for (const { keyval } of this.list().reverse()) {
      // A callback may have deleted others.
      if (!this.attributes.has(keyval)) continue;
      const outcome = this.delete(keyval, callDelete);
      if (outcome.kind === "error") return outcome;
    }
    return done;
  }

  /**
   * The attributes of a duplicate. When a callback fails, nothing remains: values that were copied are given to `callDelete`.
   */
  dup(callCopy: CallCopy<Callbacks>, callDelete: CallDelete<Callbacks>): AttributeSet<Callbacks> | Failure {
    const copy = new AttributeSet<Callbacks>();
    for (const attribute of this.list()) {
      const outcome = callCopy(attribute);
      if (outcome.kind === "keep") copy.put(attribute.keyval, outcome.value);
      if (outcome.kind === "error") {
        copy.clear(callDelete);
        return outcome;
      }
    }
    return copy;
  }
}

lives({ Keyvals });

saves({ AttributeSet });
