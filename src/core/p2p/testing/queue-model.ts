/** What the queues must do, said naively: a list, searched from the front. For property tests. */
import type { RecordId } from "../../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../../base/constants.ts";

export interface Pattern {
  readonly context: number;
  readonly source: number;
  readonly tag: number;
}

/** Would a receive with that pattern take that message? Tags below zero are ours, not the wildcard's. */
export function fits(receive: Pattern, message: Pattern): boolean {
  return (
    receive.context === message.context &&
    (receive.source === ANY_SOURCE || receive.source === message.source) &&
    (receive.tag === ANY_TAG ? message.tag >= 0 : receive.tag === message.tag)
  );
}

export class QueueModel {
  readonly entries: { readonly record: RecordId; readonly pattern: Pattern }[] = [];

  append(record: RecordId, pattern: Pattern): void {
    this.entries.push({ record, pattern });
  }

  remove(record: RecordId): void {
    this.entries.splice(
      this.entries.findIndex((entry) => entry.record === record),
      1,
    );
  }

  /** The oldest entry that is wanted, or −1. */
  find(wanted: (pattern: Pattern) => boolean): number {
    return this.entries.find(({ pattern }) => wanted(pattern))?.record ?? -1;
  }
}
