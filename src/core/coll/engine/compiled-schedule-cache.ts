/**
 * Compiled schedules used before, so that a collective in a loop is planned once. One cache per communicator, where rank, size
 * and node map never change; the key is the remaining arguments, a few numbers.
 *
 * At most `schedulesMax` schedules: the oldest makes room. Forms with arrays of sizes are not cached: comparing the arrays costs
 * as much as planning.
 */
import type { CompiledSchedule } from "./compiled-schedule.ts";

export const schedulesMax = 32;
const keyWords = 5;

export class CompiledScheduleCache {
  private readonly keys = new Float64Array(schedulesMax * keyWords);
  private readonly schedules: CompiledSchedule[] = [];
  private next = 0;
  /** A loop asks for the same schedule again and again: the last one found is tried first. */
  private last = 0;

  /** The caller defines the numbers. They are no object because every blocking collective by messages asks here. */
  find(
    collective: number,
    bytes: number,
    root: number,
    elementBytes: number,
    flags: number,
  ): CompiledSchedule | undefined {
    if (this.matches(this.last, collective, bytes, root, elementBytes, flags)) return this.schedules[this.last];
    for (let index = 0; index < this.schedules.length; index++) {
      if (!this.matches(index, collective, bytes, root, elementBytes, flags)) continue;
      this.last = index;
      return this.schedules[index];
    }
    return undefined;
  }

  keep(key: readonly [number, number, number, number, number], schedule: CompiledSchedule): void {
    this.keys.set(key, this.next * keyWords);
    this.schedules[this.next] = schedule;
    this.last = this.next;
    this.next = (this.next + 1) % schedulesMax;
  }

  private matches(
    index: number,
    collective: number,
    bytes: number,
    root: number,
    elementBytes: number,
    flags: number,
  ): boolean {
    const keys = this.keys;
    const at = index * keyWords;
    return (
      index < this.schedules.length &&
      keys[at] === collective &&
      keys[at + 1] === bytes &&
      keys[at + 2] === root &&
      keys[at + 3] === elementBytes &&
      keys[at + 4] === flags
    );
  }
}
