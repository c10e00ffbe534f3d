/**
 * The part of channel memories for the whole job. A rank that has fallen needs nothing from here: its memories have what it needs. A checkpoint
 * counts when the home memory of each of its ranks has the mark, and so every event before it: an image must not know more of what its
 * rank has chosen than the memory does (rule 3).
 */
import { kind, object, whole } from "../../base/value-shape.ts";
import type { Checkpoint } from "../checkpoint.ts";
import type { JobPart, JobPartPorts, NextLife } from "../job-part.ts";

/** A rank says that its home memory has the mark of that checkpoint. */
export interface MarkedWords {
  readonly kind: "marked";
  readonly checkpoint: number;
}

export const markedShape = object<MarkedWords>({ kind: kind("marked"), checkpoint: whole(0, Number.MAX_SAFE_INTEGER) });

export class ChannelMemoryJob implements JobPart {
  /** Ranks that are captured together, by set. */
  readonly #members: readonly (readonly number[])[];
  readonly #ports: Pick<JobPartPorts, "prepared" | "mayCommit">;
  /** By rank: the newest checkpoint of its present life whose mark is with its memory. */
  readonly #marked = new Map<number, number>();
  /** Sets with a checkpoint that waits for marks. */
  readonly #waiting = new Set<number>();
  /** Lives that begin as soon as time passes. */
  #beginning: NextLife[] = [];

  constructor(members: readonly (readonly number[])[], ports: Pick<JobPartPorts, "prepared" | "mayCommit">) {
    this.#members = members;
    this.#ports = ports;
  }

  prepare(next: NextLife): void {
    this.#waiting.delete(next.set);
    for (const rank of this.#members[next.set]!) this.#marked.delete(rank);
    this.#beginning = [...this.#beginning.filter(({ set }) => set !== next.set), next];
  }

  /** The position of a checkpoint is its number. */
  mayCommit(set: number, position: number): boolean {
    const isMarked = (rank: number): boolean => (this.#marked.get(rank) ?? 0) >= position;
    const may = this.#members[set]!.every(isMarked);
    if (may) this.#waiting.delete(set);
    else this.#waiting.add(set);
    return may;
  }

  /** Ranks tell their memories themselves what can be freed. */
  committed(_set: number, _oldest: Checkpoint): void {}

  rankSaid(rank: number, words: unknown): void {
    if (markedShape(words) !== "") return;
    this.#marked.set(rank, (words as MarkedWords).checkpoint);
    const set = this.#members.findIndex((members) => members.includes(rank));
    if (this.#waiting.has(set)) this.#ports.mayCommit(set);
  }

  forNode(): undefined {
    return undefined;
  }

  get nextTimeMs(): number {
    return this.#beginning.length > 0 ? 0 : Number.POSITIVE_INFINITY;
  }

  tick(): void {
    for (const { set, incarnation } of this.#beginning.splice(0)) {
      this.#ports.prepared(set, incarnation, { forRanks: undefined });
    }
  }
}
