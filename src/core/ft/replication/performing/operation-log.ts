/**
 * Operations of a rank on files, of which several replicas make each and one performs it (ADR 36).
 *
 * The operations of a rank are numbered in the order of its program. One replica, the performer, performs them and tells the others what
 * each came to; the others make the same calls, wait, and are told. So what the operations came to is one list, the log, that
 * the performer appends to, and each of the others holds its beginning. The log is in `entries`, the part that anybody may still
 * need.
 *
 * **The performer** is given by a view, a number that only grows: in view v it is replica v mod r. When it dies all replicas that
 * live change to the view of the next living replica, in cyclic order. That follows from the set of the dead alone as long as nobody
 * returns, and from the one order of deaths and returns (rule 7) otherwise. Words of earlier views are dropped.
 *
 * **Succession.** The new performer asks all others that live for the ends of their logs, takes the longest, tells the others what they lack,
 * and performs from there on: what any replica that lives was told has been done, and nobody is told anything else. The operation
 * behind it may have been done, or half of it: whoever performs must be able to do it again, or to find out (`ReplayedFiles` says
 * which operation is of which kind).
 *
 * **What the program has been told is known to all** (`isHeld`): the performer goes on behind an outcome that could have been another
 * only when every living replica has it. Otherwise its messages could tell of what its successor will see differently.
 *
 * **Everybody reads for itself what has not changed**: an entry says so (`isRepeated`), and the performer changes no file before all living
 * replicas are past every such entry (`mayChange`).
 *
 * Bounded: the performer is at most `aheadMax` operations ahead of the slowest replica that lives; then it waits.
 *
 * Pure: the host carries `outbox` to the other replicas, in order, each word once; it loses them only with their sender.
 */
import { assert } from "../../../base/assert.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { PerformedAnswer, PerformedEntry, SharedOperations } from "../../shared-operations.ts";

/** Between replicas of one rank. */
export type OperationWord =
  /**
   * From the performer. `allHold`: every replica that lives holds all entries below this number. `wantsWord`: the performer waits to hear
   * that this one is held too.
   */
  | {
      readonly kind: "entry";
      readonly view: number;
      readonly number: number;
      readonly entry: PerformedEntry;
      readonly allHold: number;
      readonly wantsWord: boolean;
    }
  /** To the performer: the sender holds the entries below `known`, and its program is past those below `passed`. */
  | { readonly kind: "held"; readonly view: number; readonly known: number; readonly passed: number }
  /** From a new performer, which has all entries below `known`. */
  | { readonly kind: "query"; readonly view: number; readonly known: number }
  /** The answer: the entries from `from` on that the sender has, and how far its program is. */
  | {
      readonly kind: "state";
      readonly view: number;
      readonly from: number;
      readonly entries: readonly PerformedEntry[];
      readonly known: number;
      readonly passed: number;
    };

export interface AddressedWord {
  readonly to: number;
  readonly word: OperationWord;
}

const wait: PerformedAnswer = { kind: "wait" };
const perform: PerformedAnswer = { kind: "perform" };

interface OperationLogOptions {
  readonly replica: number;
  /** How many replicas the rank has, and a bit for each that lives; this one does. */
  readonly replicas: number;
  readonly living: number;
  readonly aheadMax?: number;
}

const aheadMaxDefault = 4096;

export class OperationLog implements SharedOperations {
  /** For the host to carry away. */
  readonly outbox: AddressedWord[] = [];
  private replica: number;
  private readonly replicas: number;
  private readonly aheadMax: number;
  private living: number;
  private view: number;
  private entries: PerformedEntry[] = [];
  /** The number of the first of them. */
  private first = 0;
  /** Operations that the program is past. */
  private passed = 0;
  /** All below have been told to be held by everybody. */
  private allHold = 0;
  /** Behind the last entry that everybody repeats. */
  private repeatedBelow = 0;
  /** What each replica has said of itself, for the performer. */
  private readonly heldBy: number[];
  private readonly passedBy: number[];
  /** Replicas whose answers a new performer waits for. */
  private awaited = 0;
  /** Entries below this were there when this process became the performer: its program sees them when all others hold them. */
  private inherited = 0;
  /** What this process has told the performer last. */
  private saidKnown = 0;
  private saidPassed = 0;

  constructor({ replica, replicas, living, aheadMax = aheadMaxDefault }: OperationLogOptions) {
    this.replica = replica;
    this.replicas = replicas;
    this.living = living | (1 << replica);
    this.aheadMax = aheadMax;
    this.heldBy = new Array<number>(replicas).fill(0);
    this.passedBy = new Array<number>(replicas).fill(0);
    this.view = this.livingView(0);
  }

  // The program

  get performer(): number {
    return this.view % this.replicas;
  }

  get isPerformer(): boolean {
    return this.performer === this.replica;
  }

  /** Entries that this process has. */
  get known(): number {
    return this.first + this.entries.length;
  }

  /** Operations that the program is past. */
  get passedCount(): number {
    return this.passed;
  }

  /** Would `ask` answer anything else than "wait"? */
  get isReady(): boolean {
    if (this.isPerformer && this.awaited !== 0) return false;
    if (this.passed < this.known) return !this.isPerformer || this.least(this.heldBy) >= this.inherited;
    return this.isPerformer && this.known - this.least(this.passedBy) < this.aheadMax;
  }

  /** The program is at its next operation. "told" takes it: the program is past it then. */
  ask(): PerformedAnswer {
    if (!this.isReady) return wait;
    if (this.passed === this.known) return perform;
    const entry = this.entries[this.passed - this.first]!;
    this.pass();
    return { kind: "told", entry };
  }

  /** The performer's program is past an operation that it has performed. */
  append(entry: PerformedEntry): void {
    assert(
      this.isPerformer && this.awaited === 0 && this.passed === this.known,
      "only the performer appends, at the end",
    );
    this.entries.push(entry);
    this.passed = this.known;
    if (entry.isRepeated) this.repeatedBelow = this.known;
    // The program waits behind an outcome that could have been another (`isHeld`).
    for (const other of this.others()) this.tellEntries(this.known - 1, other, entry.outcome !== null);
    this.forget();
  }

  /** Does every replica that lives hold all that this process, the performer, has appended? */
  get isHeld(): boolean {
    return this.least(this.heldBy) >= this.known;
  }

  /** May this process, the performer, change a file? */
  get mayChange(): boolean {
    return this.least(this.passedBy) >= this.repeatedBelow;
  }

  private pass(): void {
    const { isRepeated } = this.entries[this.passed - this.first]!;
    this.passed++;
    if (isRepeated) this.repeatedBelow = Math.max(this.repeatedBelow, this.passed);
    // The performer may wait for this process to be past an entry that everybody repeats, or not to be so far behind.
    if (!this.isPerformer && (isRepeated || this.passed - this.saidPassed >= this.aheadMax >> 2)) this.sayHeld();
    this.forget();
  }

  // Words

  take(from: number, word: OperationWord): void {
    if (word.view < this.view || (this.living & (1 << from)) === 0) return;
    this.advance(word.view);
    switch (word.kind) {
      case "entry":
        this.takeEntry(word);
        return;
      case "held":
        this.heard(from, word.known, word.passed);
        return;
      case "query":
        this.answer(from, word.known);
        return;
      case "state":
        this.takeState(from, word);
        return;
    }
  }

  private takeEntry({ number, entry, allHold, wantsWord }: OperationWord & { kind: "entry" }): void {
    // A successor tells again what it cannot know to be known.
    if (number === this.known) this.entries.push(entry);
    this.allHold = Math.max(this.allHold, allHold);
    if (wantsWord || this.known - this.saidKnown >= this.aheadMax >> 2) this.sayHeld();
    this.forget();
  }

  private sayHeld(): void {
    const { view, known, passed } = this;
    this.saidKnown = known;
    this.saidPassed = passed;
    this.outbox.push({ to: this.performer, word: { kind: "held", view, known, passed } });
  }

  private heard(from: number, known: number, passed: number): void {
    this.heldBy[from] = Math.max(this.heldBy[from]!, known);
    this.passedBy[from] = Math.max(this.passedBy[from]!, passed);
    this.forget();
  }

  /** `wantsWord`: about the last of them. */
  private tellEntries(from: number, to: number, wantsWord: boolean): void {
    const { view, known } = this;
    const allHold = this.least(this.heldBy);
    for (let number = from; number < known; number++) {
      const entry = this.entries[number - this.first]!;
      const isLast = number === known - 1;
      this.outbox.push({
        to,
        word: { kind: "entry", view, number, entry, allHold, wantsWord: wantsWord && isLast },
      });
    }
  }

  // Deaths

  died(replica: number): void {
    if (replica === this.replica || (this.living & (1 << replica)) === 0) return;
    this.living &= ~(1 << replica);
    if (this.performer === replica) this.advance(this.livingView(this.view));
    else if ((this.awaited & (1 << replica)) !== 0) this.hasAnswered(replica);
    this.forget();
  }

  // Clones

  /**
   * That replica will be back, with the log that its source had when it knew and had passed so many entries, or with more: it counts as
   * living from now on, so that nobody forgets what it lacks, and no file is changed that it has still to read.
   */
  expect(replica: number, known: number, passed: number): void {
    this.living |= 1 << replica;
    this.heldBy[replica] = known;
    this.passedBy[replica] = passed;
  }

  /** It is there. The performer asks how far it is, and tells it the rest; so it comes to know who performs. */
  returned(replica: number): void {
    if (!this.isPerformer) return;
    const { view, known } = this;
    this.outbox.push({ to: replica, word: { kind: "query", view, known } });
  }

  /** This process is a clone, and that replica. `isMoved`: it was that before; if it performs, it is its own successor: words to and from the life before may be lost. */
  begin(replica: number, living: number, isMoved = false): void {
    const performed = this.isPerformer;
    this.replica = replica;
    this.outbox.length = 0;
    this.saidKnown = 0;
    this.saidPassed = 0;
    this.awaited = 0;
    this.living = living | (1 << replica);
    this.allHold = Math.min(this.allHold, this.first);
    if (isMoved && performed) {
      this.advance(this.view + this.replicas);
      return;
    }
    // Whoever performed may have died since the image was taken; the source, if it performed, goes on performing.
    if (!performed || (living & (1 << this.performer)) === 0) this.advance(this.livingView(this.view));
  }

  /** That replica can be asked from now on; a successor has asked it in vain. */
  met(replica: number): void {
    const { view, known } = this;
    if ((this.awaited & (1 << replica)) !== 0) this.outbox.push({ to: replica, word: { kind: "query", view, known } });
  }

  /** That view, or the first one after it whose performer lives. */
  private livingView(from: number): number {
    let view = from;
    while ((this.living & (1 << (view % this.replicas))) === 0) view++;
    return view;
  }

  private advance(view: number): void {
    if (view <= this.view) return;
    this.view = view;
    this.saidKnown = 0;
    this.saidPassed = 0;
    this.awaited = 0;
    if (!this.isPerformer) return;
    this.heldBy.fill(0);
    this.passedBy.fill(0);
    const others = this.others();
    for (const to of others) this.outbox.push({ to, word: { kind: "query", view, known: this.known } });
    this.awaited = others.reduce((bits, other) => bits | (1 << other), 0);
    this.inherited = this.known;
  }

  private answer(from: number, known: number): void {
    const entries = this.entries.slice(Math.max(0, known - this.first));
    assert(known >= this.first || entries.length === 0, "a successor lacks an entry that nobody has any more");
    const { view, passed } = this;
    this.outbox.push({ to: from, word: { kind: "state", view, from: known, entries, known: this.known, passed } });
    this.saidKnown = this.known;
    this.saidPassed = passed;
  }

  private takeState(from: number, { from: number, entries, known, passed }: OperationWord & { kind: "state" }): void {
    for (const [i, entry] of entries.entries()) if (number + i === this.known) this.entries.push(entry);
    this.heard(from, Math.min(known, this.known), passed);
    if ((this.awaited & (1 << from)) !== 0) this.hasAnswered(from);
    // A clone: what was appended before its answer came found it lacking earlier entries.
    else this.tellEntries(Math.min(known, this.known), from, true);
  }

  /** When all have, the others are told what they lack, and this process performs. */
  private hasAnswered(replica: number): void {
    this.awaited &= ~(1 << replica);
    if (this.awaited !== 0) return;
    for (const [number, { isRepeated }] of this.entries.entries())
      if (isRepeated) this.repeatedBelow = Math.max(this.repeatedBelow, this.first + number + 1);
    this.inherited = this.known;
    for (const other of this.others()) this.tellEntries(this.heldBy[other]!, other, true);
  }

  // Bounds

  private others(): number[] {
    return Array.from({ length: this.replicas }, (_, replica) => replica).filter(
      (replica) => replica !== this.replica && (this.living & (1 << replica)) !== 0,
    );
  }

  /** Of all others that live. */
  private least(values: readonly number[]): number {
    return this.others().reduce((least, replica) => Math.min(least, values[replica]!), this.known);
  }

  /** Entries that everybody holds, and that the program is past, are asked for by nobody. */
  private forget(): void {
    const allHold = this.isPerformer && this.awaited === 0 ? this.least(this.heldBy) : this.allHold;
    const count = Math.min(allHold, this.passed) - this.first;
    if (count <= 0) return;
    this.entries.splice(0, count);
    this.first += count;
  }
}

lives({ OperationLog });
