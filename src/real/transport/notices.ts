/**
 * News from the node's main thread to its processes: deaths and returns, in the dispatcher's order, the same for all of them.
 * A log of `noticeCount` entries in the shared memory, used in a circle; the main thread never overwrites an entry that a
 * living process has not read: `append` then answers false, and the caller keeps the notice for later.
 */
import { Line, lineOf, noticeWords, RankStatus } from "./layout.ts";
import type { LivingProcesses } from "./living-processes.ts";
import type { NodeMemory } from "./node-memory.ts";

export const NoticeKind = {
  DIED: 1,
  RETURNED: 2,
  /** No older checkpoint of a set will be restored; the set stands in the place of the rank, its number in that of the incarnation. */
  OLDEST: 3,
  /** The program of a rank is over, behind the last meeting of its world. */
  LEFT: 4,
  /** That rank was to go on elsewhere in that life, and will not. */
  STAYS: 5,
} as const;
export type NoticeKind = (typeof NoticeKind)[keyof typeof NoticeKind];

export interface Notice {
  readonly kind: NoticeKind;
  readonly rank: number;
  readonly incarnation: number;
  /** Of RETURNED: its index in the node; −1, and unless given: it is elsewhere, or the kind is another. */
  readonly place?: number;
}

const entryOf = ({ layout }: NodeMemory, number: number): number =>
  (layout.noticesAt + 128 + (number & (layout.noticeCount - 1)) * noticeWords * 4) >> 2;

/** The main thread's end. */
export class NoticeBoard {
  readonly #node: NodeMemory;
  readonly #population: LivingProcesses;
  constructor(node: NodeMemory, population: LivingProcesses) {
    this.#node = node;
    this.#population = population;
  }

  append({ kind, rank, incarnation, place = -1 }: Notice): boolean {
    const { calls, layout, words } = this.#node;
    const count = calls.load(layout.noticesAt);
    for (let process = 0; process < layout.processes; process++) {
      const line = lineOf(layout, process);
      if ((calls.load(line + Line.STATUS) & 0xff) !== RankStatus.ALIVE) continue;
      if (((count - calls.load(line + Line.NOTICES_SEEN)) | 0) >= layout.noticeCount) return false;
    }
    const entry = entryOf(this.#node, count);
    words[entry] = kind;
    words[entry + 1] = rank;
    words[entry + 2] = incarnation;
    words[entry + 3] = place;
    calls.store(layout.noticesAt, (count + 1) | 0);
    this.#population.ringAll();
    return true;
  }

  /** Have all processes that live read all of them? */
  get areRead(): boolean {
    const { calls, layout } = this.#node;
    const count = calls.load(layout.noticesAt);
    for (let process = 0; process < layout.processes; process++) {
      const line = lineOf(layout, process);
      const isAlive = (calls.load(line + Line.STATUS) & 0xff) === RankStatus.ALIVE;
      if (isAlive && calls.load(line + Line.NOTICES_SEEN) !== count) return false;
    }
    return true;
  }
}

/** A process's end. `isNews` is one plain load of a line that hardly ever changes: cheap enough for every progress. */
export class NoticeReader {
  readonly #node: NodeMemory;
  readonly #words: Int32Array;
  readonly #countWord: number;
  #seen: number;
  constructor(node: NodeMemory) {
    this.#node = node;
    this.#words = node.words;
    this.#countWord = node.layout.noticesAt >> 2;
    this.#seen = node.calls.load(lineOf(node.layout, node.process) + Line.NOTICES_SEEN);
  }

  isNews(): boolean {
    return this.#words[this.#countWord] !== this.#seen;
  }

  next(): Required<Notice> | undefined {
    const { calls, layout, words, process } = this.#node;
    if (calls.load(layout.noticesAt) === this.#seen) return undefined;
    const entry = entryOf(this.#node, this.#seen);
    const kind = words[entry] as NoticeKind;
    const notice = { kind, rank: words[entry + 1]!, incarnation: words[entry + 2]!, place: words[entry + 3]! };
    this.#seen = (this.#seen + 1) | 0;
    calls.store(lineOf(layout, process) + Line.NOTICES_SEEN, this.#seen);
    return notice;
  }
}
