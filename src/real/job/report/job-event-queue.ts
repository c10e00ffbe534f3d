/**
 * The events of a job, for a program that iterates over them, which none has to: before such a loop begins, and after it, lines are
 * never waited for, and only the latest `bytesMax` of them are kept. While a program iterates, a line is done when it has
 * been taken, so a slow loop slows the ranks down like a slow reader of a pipe.
 */
import type { JobEvent } from "./job-event.ts";

const bytesMax = 1 << 20;

interface Entry {
  readonly event: JobEvent;
  readonly bytes: number;
  done: (() => void) | undefined;
}

export class JobEventQueue {
  #entries: Entry[] = [];
  #bytes = 0;
  #state: "unread" | "read" | "abandoned" = "unread";
  #ended = false;
  #waiting: ((result: IteratorResult<JobEvent, undefined>) => void)[] = [];

  push(event: JobEvent, bytes = 0, done?: () => void): void {
    const reader = this.#waiting.shift();
    if (reader !== undefined) {
      reader({ value: event, done: false });
      done?.();
      return;
    }
    if (this.#state === "abandoned") {
      done?.();
      return;
    }
    const waits = this.#state === "read";
    this.#entries.push({ event, bytes, done: waits ? done : undefined });
    this.#bytes += bytes;
    if (!waits) {
      done?.();
      this.#dropOldLines();
    }
  }

  /** No event comes any more; those that are there can still be read. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#waiting.splice(0)) reader({ value: undefined, done: true });
  }

  next(): Promise<IteratorResult<JobEvent, undefined>> {
    if (this.#state === "unread") this.#state = "read";
    const entry = this.#entries.shift();
    if (entry !== undefined) {
      this.#bytes -= entry.bytes;
      entry.done?.();
      return Promise.resolve({ value: entry.event, done: false });
    }
    if (this.#ended || this.#state === "abandoned") return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The loop was left: no event will be taken any more. */
  return(): Promise<IteratorResult<JobEvent, undefined>> {
    this.#state = "abandoned";
    for (const entry of this.#entries.splice(0)) entry.done?.();
    this.#bytes = 0;
    return Promise.resolve({ value: undefined, done: true });
  }

  #dropOldLines(): void {
    while (this.#bytes > bytesMax) {
      const oldest = this.#entries.findIndex((entry) => entry.bytes > 0);
      this.#bytes -= this.#entries[oldest]!.bytes;
      this.#entries.splice(oldest, 1);
    }
  }
}
