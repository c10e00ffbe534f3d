/**
 * The decisions of a rank whose replicas follow one of them (ADR 40): one list, which the leader appends to and the others hold the
 * beginning of.
 *
 * **The leader** is given by a view, a number that only grows: in view v it is replica v mod r. When it dies all replicas that live change
 * to the view of the next living one, in cyclic order. Words of earlier views are dropped.
 *
 * **Succession.** The new leader asks all others that live for the ends of their lists, takes the longest, tells the others what they
 * lack, and decides from there on. So whatever a living replica was told stays decided.
 *
 * **Stable** is a decision that all living replicas hold: no death can undo it any more. Whatever leaves a process (a message, a line, a
 * change of a file) waits until all decisions before it are (`stable`). Each replica says to all others how much it holds, so each knows by itself.
 *
 * Bounded: the leader decides nothing that it could leave undecided when it is `aheadMax` decisions ahead of the slowest program.
 *
 * Pure: the host carries `outbox` to the other replicas, in order, each word once; it loses them only with their sender.
 */
import { assert } from "../../../base/assert.ts";
import { lives } from "../../../base/saved-classes.ts";

/** Its kind, one of `DeterminantKind`, and words that depend on it. */
export type Decision = readonly number[];

/** Between replicas of one rank. */
export type DecisionWord =
  /** From the leader. */
  | { readonly kind: "decision"; readonly view: number; readonly number: number; readonly decision: Decision }
  /** To everybody: the sender holds the decisions below `known`, and its program has come to `passed` of them. */
  | { readonly kind: "held"; readonly view: number; readonly known: number; readonly passed: number }
  /** From a new leader, which has all decisions below `known`. */
  | { readonly kind: "query"; readonly view: number; readonly known: number }
  /** The answer: the decisions from `from` on that the sender has. */
  | {
      readonly kind: "state";
      readonly view: number;
      readonly from: number;
      readonly decisions: readonly Decision[];
      readonly known: number;
    };

interface AddressedDecision {
  readonly to: number;
  readonly word: DecisionWord;
}

interface DecisionLogOptions {
  readonly replica: number;
  /** How many replicas the rank has, and a bit for each that lives; this one does. */
  readonly replicas: number;
  readonly living: number;
  readonly aheadMax?: number;
}

const aheadMaxDefault = 1 << 16;

export class DecisionLog {
  /** For the host to carry away. */
  readonly outbox: AddressedDecision[] = [];
  /** Decisions of others that have come, for the host to take. */
  readonly news: Decision[] = [];
  private readonly replica: number;
  private readonly replicas: number;
  private readonly aheadMax: number;
  private living: number;
  private view: number;
  private decisions: Decision[] = [];
  /** The number of the first of them. */
  private first = 0;
  /** Decisions that the program of this process has come to. */
  passed = 0;
  /** What each replica has said of itself. */
  private readonly heldBy: number[];
  private readonly passedBy: number[];
  /** Replicas whose answers a new leader waits for. */
  private awaited = 0;
  /** What this process has told the others last. */
  private saidKnown = 0;
  private saidPassed = 0;

  constructor({ replica, replicas, living, aheadMax = aheadMaxDefault }: DecisionLogOptions) {
    this.replica = replica;
    this.replicas = replicas;
    this.living = living | (1 << replica);
    this.aheadMax = aheadMax;
    this.heldBy = new Array<number>(replicas).fill(0);
    this.passedBy = new Array<number>(replicas).fill(0);
    this.view = this.livingView(0);
  }

  private get leader(): number {
    return this.view % this.replicas;
  }

  /** May this process decide? */
  get leads(): boolean {
    return this.leader === this.replica && this.awaited === 0;
  }

  /** Is it too far ahead of another replica's program to decide anything that can wait? */
  get isAhead(): boolean {
    return this.known - this.least(this.passedBy) >= this.aheadMax;
  }

  /** Decisions that this process has. */
  get known(): number {
    return this.first + this.decisions.length;
  }

  /** Decisions below this number are held by all replicas that live. */
  get stable(): number {
    return this.least(this.heldBy);
  }

  /** This process, which leads, has decided, and its program has come to it. */
  append(decision: Decision): void {
    assert(this.leads, "only the leader decides");
    const number = this.known;
    this.decisions.push(decision);
    this.passed++;
    const { view } = this;
    for (const to of this.others()) this.outbox.push({ to, word: { kind: "decision", view, number, decision } });
    this.forget();
  }

  // Words

  take(from: number, word: DecisionWord): void {
    if ((this.living & (1 << from)) === 0) return;
    if (word.kind === "held") {
      this.heard(from, word.known, word.passed);
      return;
    }
    // Whoever follows another leader while this process leads takes it for dead, and will not be heard by it any more.
    const isDeposed = this.leader === this.replica && word.view > this.view;
    if (word.view < this.view || isDeposed) return;
    this.advance(word.view);
    switch (word.kind) {
      case "decision":
        // A successor tells again what it cannot know to be known.
        if (word.number === this.known) this.learn(word.decision);
        this.heard(from, Math.min(word.number + 1, this.known), 0);
        return;
      case "query":
        this.answer(from, word.known);
        this.heard(from, Math.min(word.known, this.known), 0);
        return;
      case "state":
        for (const [i, decision] of word.decisions.entries()) if (word.from + i === this.known) this.learn(decision);
        this.heard(from, Math.min(word.known, this.known), 0);
        if ((this.awaited & (1 << from)) !== 0) this.hasAnswered(from);
        return;
    }
  }

  private learn(decision: Decision): void {
    this.decisions.push(decision);
    this.news.push(decision);
  }

  private heard(from: number, known: number, passed: number): void {
    this.heldBy[from] = Math.max(this.heldBy[from]!, known);
    this.passedBy[from] = Math.max(this.passedBy[from]!, passed);
    this.forget();
  }

  /** Have the others not been told how much this process holds? Of the leader they know by its decisions. */
  get hasWords(): boolean {
    if (this.leader === this.replica) return false;
    return this.saidKnown !== this.known || this.passed - this.saidPassed >= this.aheadMax >> 2;
  }

  sayHeld(): void {
    const { view, known, passed } = this;
    this.saidKnown = known;
    this.saidPassed = passed;
    for (const to of this.others()) this.outbox.push({ to, word: { kind: "held", view, known, passed } });
  }

  // Deaths

  died(replica: number): void {
    if (replica === this.replica || (this.living & (1 << replica)) === 0) return;
    this.living &= ~(1 << replica);
    if (this.leader === replica) this.advance(this.livingView(this.view));
    else if ((this.awaited & (1 << replica)) !== 0) this.hasAnswered(replica);
    this.forget();
  }

  /** That view, or the first one after it whose leader lives. */
  private livingView(from: number): number {
    let view = from;
    while ((this.living & (1 << (view % this.replicas))) === 0) view++;
    return view;
  }

  private advance(view: number): void {
    if (view <= this.view) return;
    this.view = view;
    this.awaited = 0;
    if (this.leader !== this.replica) return;
    const others = this.others();
    for (const to of others) this.outbox.push({ to, word: { kind: "query", view, known: this.known } });
    this.awaited = others.reduce((bits, other) => bits | (1 << other), 0);
  }

  private answer(from: number, known: number): void {
    assert(known >= this.first, "a successor lacks a decision that nobody has any more");
    const { view } = this;
    const decisions = this.decisions.slice(known - this.first);
    this.outbox.push({ to: from, word: { kind: "state", view, from: known, decisions, known: this.known } });
  }

  /** When all have, the others are told what they lack, and this process leads. */
  private hasAnswered(replica: number): void {
    this.awaited &= ~(1 << replica);
    if (this.awaited !== 0) return;
    const { view } = this;
    this.sayHeld();
    for (const to of this.others()) {
      for (let number = Math.max(this.first, this.heldBy[to]!); number < this.known; number++) {
        const decision = this.decisions[number - this.first]!;
        this.outbox.push({ to, word: { kind: "decision", view, number, decision } });
      }
    }
  }

  // Bounds

  private others(): number[] {
    return Array.from({ length: this.replicas }, (_, replica) => replica).filter(
      (replica) => replica !== this.replica && (this.living & (1 << replica)) !== 0,
    );
  }

  /** Of all others that live; none: all that is known. */
  private least(values: readonly number[]): number {
    let least = this.known;
    for (let replica = 0; replica < this.replicas; replica++) {
      const isOther = replica !== this.replica && (this.living & (1 << replica)) !== 0;
      if (isOther && values[replica]! < least) least = values[replica]!;
    }
    return least;
  }

  /** Decisions that everybody holds are asked for by nobody. */
  private forget(): void {
    const count = this.stable - this.first;
    if (count <= 0) return;
    this.decisions.splice(0, count);
    this.first += count;
  }
}

lives({ DecisionLog });
