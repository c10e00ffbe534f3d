/**
 * Work of several steps that is no plain collective: making communicators, agreements. A small state machine whose fields are
 * plain data (phase, numbers, arrays), never a closure or a suspended generator: an image taken in the middle of it holds
 * those fields.
 *
 * The process calls `advance` on every progress until it says that it is done; the request that stands for the task is
 * completed then, with the task's error code. `advance` waits for nothing.
 */
import type { RecordId } from "../base/brand.ts";
import type { Process } from "./process.ts";

export abstract class Task {
  /** The request that the program waits for. */
  request = -1 as RecordId;
  error = 0;

  /** Does what can be done now; true when the task has ended. */
  abstract advance(process: Process): boolean;
}
