/**
 * What will happen, earliest first; at the same nanosecond in the order in which it was planned. A binary heap in three
 * parallel arrays. Times are integers: a sum of nanoseconds is exact up to 2^53, about a hundred days.
 */
import { assert } from "../core/base/assert.ts";

export class Agenda<Event> {
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  readonly #events: Event[] = [];
  #order = 0;
  /** Time of the event taken last. */
  nowNs = 0;

  get size(): number {
    return this.#events.length;
  }

  plan(timeNs: number, event: Event): void {
    assert(Number.isSafeInteger(timeNs) && timeNs >= this.nowNs, `an event at ${timeNs} ns, before ${this.nowNs} ns`);
    this.#times.push(timeNs);
    this.#orders.push(this.#order++);
    this.#events.push(event);
    let child = this.#events.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (this.#before(parent, child)) break;
      this.#swap(parent, child);
      child = parent;
    }
  }

  /** The next event, and `nowNs` is its time. */
  take(): Event | undefined {
    const event = this.#events[0];
    if (event === undefined) return undefined;
    this.nowNs = this.#times[0]!;
    const last = this.#events.length - 1;
    this.#swap(0, last);
    this.#times.pop();
    this.#orders.pop();
    this.#events.pop();
    for (let parent = 0; ; ) {
      let child = 2 * parent + 1;
      if (child >= last) return event;
      if (child + 1 < last && this.#before(child + 1, child)) child++;
      if (this.#before(parent, child)) return event;
      this.#swap(parent, child);
      parent = child;
    }
  }

  #before(one: number, other: number): boolean {
    const difference = this.#times[one]! - this.#times[other]!;
    return difference === 0 ? this.#orders[one]! < this.#orders[other]! : difference < 0;
  }

  #swap(one: number, other: number): void {
    swap(this.#times, one, other);
    swap(this.#orders, one, other);
    swap(this.#events, one, other);
  }
}

function swap<T>(list: T[], one: number, other: number): void {
  const kept = list[one]!;
  list[one] = list[other]!;
  list[other] = kept;
}
