/**
 * Work of several steps that is no plain collective: making communicators, agreements. A small state machine whose fields are
 * plain data (phase, numbers, arrays), never a closure or a suspended generator: an image taken in the middle of it holds
 * those fields.
 *
 * The process calls `advance` on every progress until it says that it is done; the request that stands for the task is
 * completed then, with the task's error code. `advance` waits for nothing.
 */
import { assert } from "../base/assert.ts";
import type { RecordId, WorldRank } from "../base/brand.ts";
import type { ErrorCode } from "../base/mpi-error.ts";
import type { Engine } from "../p2p/engine.ts";
import type { Memory } from "../request/memory.ts";
import type { Communicator } from "./communicator.ts";

/**
 * The process that runs a task, by the parts that every task may use. The only host is `Process`: a task that needs more of the process
 * declares its `advance` with that type. This file does not, because a process holds tasks.
 */
export interface TaskHost {
  readonly engine: Engine;
  readonly memory: Memory;
}

/** A task that is a collective on a communicator, as other ranks see it. */
export interface Creation {
  readonly comm: Communicator;
  /** Its number among the collectives there. */
  readonly number: number;
  /** A code of `CollectiveCall`. */
  readonly kind: number;
}

/** Processes without which a task does not end, in something that is no collective of a communicator with all its members. */
export interface AwaitedPeers {
  /** The communicator in whose context the messages of the task travel, and their tag. */
  readonly comm: Communicator;
  readonly tag: number;
  readonly peers: Iterable<WorldRank>;
  /** A code of `CollectiveCall`. */
  readonly kind: number;
}

export abstract class Task {
  /** The request that the program waits for. */
  request = -1 as RecordId;
  error = 0;

  /** Does what can be done now; true when the task has ended. */
  abstract advance(process: TaskHost): boolean;

  /** The collective that the task still carries out; null: none. */
  get creation(): Creation | null {
    return null;
  }

  /** The communicator all of whose members carry out the task together; null: there is none. */
  get together(): Communicator | null {
    return this.creation?.comm ?? null;
  }

  /** Set while the task waits for others in something that is no collective; null: it does not. */
  get awaited(): AwaitedPeers | null {
    return null;
  }

  /** Are words that are `awaited` still missing? */
  isAwaiting(_process: TaskHost): boolean {
    return this.awaited !== null;
  }

  /** What is `awaited` never comes. The task ends with that error when its messages have ended. */
  abandon(_process: TaskHost, _error: ErrorCode): void {
    assert(false, "a task that awaits peers can give up");
  }

  /** In place of the first `advance`: those that would carry it out together do not, and it ends with that error. */
  callOff(_process: TaskHost, error: ErrorCode): void {
    this.error = error;
  }

  /** Is the operation with that tag on that communicator, which may be one that is being made, a step of the task? */
  isStep(_comm: Communicator, _tag: number): boolean {
    return false;
  }
}
