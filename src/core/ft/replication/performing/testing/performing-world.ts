/**
 * Replicas of one rank, a disk, and everything that can happen next: a step of a program, a word that arrives, a crash, the news of
 * one. Plain data, so that a state can be remembered, and gone on from in every way.
 *
 * The disk has cells that are written in two halves, and a counter that goes up by one, which must not be done twice. What a look shows is
 * another number whenever somebody looks: two replicas agree on it only if one of them was told.
 */
import { assert } from "../../../../base/assert.ts";
import type { PerformedEntry } from "../../../shared-operations.ts";
import { type AddressedWord, OperationLog, type OperationWord } from "../operation-log.ts";

/** An operation of the program. */
export type ModelOperation =
  /** Writes a cell. Done twice it is the same. */
  | { readonly kind: "write"; readonly cell: number; readonly value: number }
  /** Reads a cell that was there before the program, which has this value now. Every replica does so itself. */
  | { readonly kind: "read"; readonly cell: number; readonly value: number }
  /** Sees what nobody can foresee. */
  | { readonly kind: "look" }
  /** Adds one to the counter. */
  | { readonly kind: "once" };

interface Replica {
  log: OperationLog;
  /** The operation that its program is at, and how much of it is done. */
  at: number;
  step: "ask" | "half" | "finish" | "held" | "intended" | "second ask";
  /** Of `once`: the counter before. */
  facts: number;
  /** What its looks have shown. */
  seen: number[];
  isAlive: boolean;
}

interface State {
  replicas: Replica[];
  cells: number[];
  counter: number;
  looks: number;
  crashesLeft: number;
  /** By sender and receiver. */
  channels: OperationWord[][][];
  /** By replica: deaths that it has not heard of, in the order of all. */
  news: number[][];
}

export type Move =
  | { readonly kind: "run"; readonly replica: number }
  | { readonly kind: "word"; readonly from: number; readonly to: number }
  | { readonly kind: "news"; readonly to: number }
  /** `arrive`: how many of its words to each of the others are not lost. */
  | { readonly kind: "crash"; readonly replica: number; readonly arrive: readonly number[] };

export interface WorldSize {
  readonly replicas: number;
  readonly crashes: number;
  readonly program: readonly ModelOperation[];
  readonly aheadMax?: number;
  /** One that leaves something out, to see that it is found. */
  readonly Log?: typeof OperationLog;
}

const half = -1;

export class PerformingWorld {
  readonly #program: readonly ModelOperation[];
  readonly #Log: typeof OperationLog;
  #state: State;

  constructor({ replicas, crashes, program, aheadMax, Log = OperationLog }: WorldSize) {
    this.#Log = Log;
    const cellCount = 1 + Math.max(0, ...program.map((each) => ("cell" in each ? each.cell : 0)));
    const all = Array.from({ length: replicas }, (_, replica) => replica);
    const living = (1 << replicas) - 1;
    this.#program = program;
    this.#state = {
      replicas: all.map((replica) => ({
        log: new Log({ replica, replicas, living, ...(aheadMax === undefined ? {} : { aheadMax }) }),
        at: 0,
        step: "ask",
        facts: 0,
        seen: [],
        isAlive: true,
      })),
      cells: new Array<number>(cellCount).fill(0),
      counter: 0,
      looks: 0,
      crashesLeft: crashes,
      channels: all.map(() => all.map(() => [])),
      news: all.map(() => []),
    };
  }

  /** Two worlds with the same key go on in the same ways. */
  get key(): string {
    return JSON.stringify(this.#state);
  }

  /** Goes on from a state that was reached before. */
  restore(key: string): void {
    this.#state = JSON.parse(key) as State;
    for (const replica of this.#state.replicas) Object.setPrototypeOf(replica.log, this.#Log.prototype);
  }

  get moves(): Move[] {
    const { replicas, channels, news, crashesLeft } = this.#state;
    const moves: Move[] = [];
    for (const [replica, { isAlive }] of replicas.entries()) {
      if (!isAlive) continue;
      if (this.#canRun(replica)) moves.push({ kind: "run", replica });
      if (news[replica]!.length > 0) moves.push({ kind: "news", to: replica });
      for (const from of replicas.keys()) {
        if (channels[from]![replica]!.length > 0) moves.push({ kind: "word", from, to: replica });
      }
      if (crashesLeft > 0) moves.push(...this.#crashes(replica));
    }
    return moves;
  }

  /** Every number of its words may arrive. */
  #crashes(replica: number): Move[] {
    let arrives: number[][] = [[]];
    for (const queue of this.#state.channels[replica]!)
      arrives = arrives.flatMap((before) => Array.from({ length: queue.length + 1 }, (_, count) => [...before, count]));
    return arrives.map((arrive) => ({ kind: "crash", replica, arrive }));
  }

  make(move: Move): void {
    const { replicas, channels, news } = this.#state;
    switch (move.kind) {
      case "run":
        this.#run(move.replica);
        return;
      case "word": {
        const word = channels[move.from]![move.to]!.shift()!;
        replicas[move.to]!.log.take(move.from, word);
        this.#carry(move.to);
        return;
      }
      case "news":
        replicas[move.to]!.log.died(news[move.to]!.shift()!);
        this.#carry(move.to);
        return;
      case "crash":
        this.#state.crashesLeft--;
        replicas[move.replica]!.isAlive = false;
        for (const [to, count] of move.arrive.entries()) channels[move.replica]![to]!.length = count;
        for (const [to, { isAlive }] of replicas.entries()) if (isAlive) news[to]!.push(move.replica);
        return;
    }
  }

  #carry(from: number): void {
    const { replicas, channels } = this.#state;
    for (const { to, word } of replicas[from]!.log.outbox.splice(0) as AddressedWord[]) {
      if (replicas[to]!.isAlive) channels[from]![to]!.push(word);
    }
  }

  /** Nothing else can happen: everybody that lives is at the end, and everything was done once. What is wrong, or nothing. */
  get problem(): string {
    const { replicas, cells, counter } = this.#state;
    const living = replicas.filter(({ isAlive }) => isAlive);
    if (living.some(({ at }) => at < this.#program.length)) return "a replica waits for ever";
    const wanted = cells.map((_, cell) => this.#lastValue(cell));
    if (JSON.stringify(cells) !== JSON.stringify(wanted)) return `cells ${cells}, not ${wanted}`;
    const ones = this.#program.filter(({ kind }) => kind === "once").length;
    if (counter !== ones) return `counted ${counter}, not ${ones}`;
    return "";
  }

  /** At any time: nobody is told anything else than another replica that lives. */
  get disagreement(): string {
    const living = this.#state.replicas.filter(({ isAlive }) => isAlive);
    for (const one of living) {
      for (const other of living) {
        const shared = Math.min(one.seen.length, other.seen.length);
        for (let i = 0; i < shared; i++) if (one.seen[i] !== other.seen[i]) return `look ${i} showed different things`;
      }
    }
    return "";
  }

  /** Entries that the replica that lives and remembers most remembers. */
  get remembered(): number {
    const lengths = this.#state.replicas.map(
      ({ log }) => (log as unknown as { entries: PerformedEntry[] }).entries.length,
    );
    return Math.max(...lengths);
  }

  #lastValue(cell: number): number {
    const last = this.#program.findLast((each) => each.kind === "write" && each.cell === cell);
    return last !== undefined && last.kind === "write" ? last.value : 0;
  }

  // A program

  #canRun(index: number): boolean {
    const replica = this.#state.replicas[index]!;
    const { log, at, step } = replica;
    const operation = this.#program[at];
    if (operation === undefined) return false;
    switch (step) {
      case "ask":
      case "second ask":
        return log.isReady;
      case "half":
        return operation.kind !== "write" || log.mayChange;
      case "held":
      case "intended":
        return log.isHeld;
      case "finish":
        return true;
    }
  }

  #run(index: number): void {
    const replica = this.#state.replicas[index]!;
    const operation = this.#program[replica.at]!;
    this.#step(replica, operation);
    this.#carry(index);
  }

  #step(replica: Replica, operation: ModelOperation): void {
    const { log } = replica;
    switch (replica.step) {
      case "ask": {
        const answer = log.ask();
        assert(answer.kind !== "wait", "it can run");
        if (answer.kind === "told") this.#told(replica, operation, answer.entry);
        else this.#begin(replica, operation);
        return;
      }
      case "second ask": {
        const answer = log.ask();
        assert(answer.kind !== "wait", "it can run");
        if (answer.kind === "told") this.#next(replica);
        else if (this.#state.counter > replica.facts) this.#appendLast(replica, [0]);
        else replica.step = "intended";
        return;
      }
      case "half":
        assert(operation.kind === "write", "only writes have halves");
        this.#state.cells[operation.cell] = half;
        replica.step = "finish";
        return;
      case "finish":
        assert(operation.kind === "write", "only writes have halves");
        this.#state.cells[operation.cell] = operation.value;
        this.#appendLast(replica, null);
        return;
      case "intended":
        this.#state.counter++;
        this.#appendLast(replica, [0]);
        return;
      case "held":
        this.#next(replica);
        return;
    }
  }

  #begin(replica: Replica, operation: ModelOperation): void {
    const state = this.#state;
    switch (operation.kind) {
      case "write":
        replica.step = "half";
        return;
      case "read":
        this.#read(operation);
        replica.log.append({ outcome: null, isRepeated: true });
        this.#next(replica);
        return;
      case "look":
        replica.seen.push(++state.looks);
        replica.log.append({ outcome: [state.looks], isRepeated: false });
        replica.step = "held";
        return;
      case "once":
        replica.facts = state.counter;
        replica.log.append({ outcome: [state.counter], isRepeated: false });
        replica.step = "intended";
        return;
    }
  }

  #read(operation: ModelOperation & { kind: "read" }): void {
    const value = this.#state.cells[operation.cell];
    assert(value === operation.value, `a read of cell ${operation.cell} gives ${value}, not ${operation.value}`);
  }

  #told(replica: Replica, operation: ModelOperation, { outcome }: PerformedEntry): void {
    if (operation.kind === "read") this.#read(operation);
    if (operation.kind === "look") replica.seen.push(outcome![0]!);
    if (operation.kind === "once") {
      replica.facts = outcome![0]!;
      replica.step = "second ask";
      return;
    }
    this.#next(replica);
  }

  /** The program goes on behind what was to be expected, and waits behind anything else. */
  #appendLast(replica: Replica, outcome: PerformedEntry["outcome"]): void {
    replica.log.append({ outcome, isRepeated: false });
    if (outcome === null) this.#next(replica);
    else replica.step = "held";
  }

  #next(replica: Replica): void {
    replica.at++;
    replica.step = "ask";
  }
}
