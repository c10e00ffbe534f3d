/**
 * Which messages of a channel are here: all below a number, and a few above it. Messages arrive in the order in which they
 * were sent, but those of a collective have the numbers of the moment when it was started, so there may be gaps for a while.
 * Numbers wrap; no two that are compared are 2^31 apart.
 */
import { saves } from "../base/saved-classes.ts";

export class ReceivedNumbers {
  firstMissing = 0;
  later = new Set<number>();

  has(number: number): boolean {
    return ((number - this.firstMissing) | 0) < 0 || (this.later.size !== 0 && this.later.has(number));
  }

  /** False: it was there already. */
  add(number: number): boolean {
    if (this.has(number)) return false;
    if (number !== this.firstMissing) {
      this.later.add(number);
      return true;
    }
    this.firstMissing = (number + 1) | 0;
    if (this.later.size === 0) return true;
    while (this.later.delete(this.firstMissing)) this.firstMissing = (this.firstMissing + 1) | 0;
    return true;
  }

  /** All before that one. */
  addBefore(number: number): void {
    if (((number - this.firstMissing) | 0) <= 0) return;
    this.firstMissing = number;
    for (const later of this.later) if (((later - number) | 0) < 0) this.later.delete(later);
    while (this.later.delete(this.firstMissing)) this.firstMissing = (this.firstMissing + 1) | 0;
  }

  hasAll({ firstMissing, later }: ReceivedNumbers): boolean {
    for (let number = this.firstMissing; ((number - firstMissing) | 0) < 0; number = (number + 1) | 0) {
      if (!this.has(number)) return false;
    }
    for (const number of later) if (!this.has(number)) return false;
    return true;
  }

  addAll({ firstMissing, later }: ReceivedNumbers): void {
    this.addBefore(firstMissing);
    for (const number of later) this.add(number);
  }

  /** These are missing, of those that are there. */
  remove(numbers: readonly number[]): void {
    const { firstMissing, later } = this.without(new Set(numbers));
    this.firstMissing = firstMissing;
    this.later = later;
  }

  without(numbers: ReadonlySet<number>): ReceivedNumbers {
    const left = new ReceivedNumbers();
    let first = this.firstMissing;
    for (const number of numbers) if (((number - first) | 0) < 0) first = number;
    left.firstMissing = first;
    for (let number = first; number !== this.firstMissing; number = (number + 1) | 0) {
      if (!numbers.has(number)) left.add(number);
    }
    for (const number of this.later) if (!numbers.has(number)) left.add(number);
    return left;
  }

  copy(): ReceivedNumbers {
    const copy = new ReceivedNumbers();
    copy.firstMissing = this.firstMissing;
    copy.later = new Set(this.later);
    return copy;
  }

  /** How many, wrapped like the numbers. */
  get count(): number {
    return (this.firstMissing + this.later.size) | 0;
  }
}

saves({ ReceivedNumbers });
