/** Processes that something is waited for. */
import type { ProcessName } from "../../base/identity.ts";
import { lives } from "../../base/saved-classes.ts";

export class Roll {
  /** By rank: a bit for each replica. */
  private readonly bits = new Map<number, number>();

  add({ rank, replica }: ProcessName): void {
    this.bits.set(rank, (this.bits.get(rank) ?? 0) | (1 << replica));
  }

  /** False: it was not among them. */
  remove({ rank, replica }: ProcessName): boolean {
    const bits = this.bits.get(rank) ?? 0;
    if ((bits & (1 << replica)) === 0) return false;
    const left = bits & ~(1 << replica);
    if (left === 0) this.bits.delete(rank);
    else this.bits.set(rank, left);
    return true;
  }

  has({ rank, replica }: ProcessName): boolean {
    return ((this.bits.get(rank) ?? 0) & (1 << replica)) !== 0;
  }

  clear(): void {
    this.bits.clear();
  }

  get isEmpty(): boolean {
    return this.bits.size === 0;
  }
}

lives({ Roll });
