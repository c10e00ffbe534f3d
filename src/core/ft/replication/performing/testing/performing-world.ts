/**
 * Replicas of one rank, a disk, and everything that can happen next: a step of a program, a word that arrives, a crash, the news of
 * one, the steps by which a dead one comes back as a clone, and those by which a living one goes on elsewhere (revival.ts, as far as operations are concerned). Plain data, so that a state can be remembered, and gone on from in every way.
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

/** What else replicas say to each other, on the same channels: about a clone, and by itself. */
type CloneWord =
  | {
      readonly kind: "prepare";
      readonly replica: number;
      readonly life: number;
      readonly known: number;
      readonly passed: number;
    }
  | { readonly kind: "prepared"; readonly life: number }
  | { readonly kind: "hello"; readonly life: number; readonly isMoved: boolean }
  /** To one that has gone on elsewhere: the speaker knows it. */
  | { readonly kind: "aware"; readonly life: number };

/** A clone that is being made. */
interface Clone {
  readonly replica: number;
  readonly source: number;
  /** Bits: those that have not said that they expect it. */
  awaited: number;
  /** Of the source; null: not taken yet. */
  image: string | null;
}

interface State {
  replicas: Replica[];
  /** As the dispatcher knows it. */
  performer: number;
  clonesLeft: number;
  movesLeft: number;
  clone: Clone | null;
  /** By replica, bits: those that do not know yet that it has gone on elsewhere. It tells them nothing, and is deaf to them. */
  strangers: number[];
  /** By replica: its life, or the one that is being made. */
  lives: number[];
  /** By replica, of each other one: the lowest life that it would hear of; and whether it takes it for living. */
  known: number[][];
  hears: boolean[][];
  cells: number[];
  counter: number;
  looks: number;
  crashesLeft: number;
  /** By sender and receiver. */
  channels: (OperationWord | CloneWord)[][][];
  /** By replica: deaths that it has not heard of, in the order of all. */
  news: { replica: number; life: number }[][];
}

export type Move =
  | { readonly kind: "run"; readonly replica: number }
  | { readonly kind: "word"; readonly from: number; readonly to: number }
  | { readonly kind: "news"; readonly to: number }
  /** A dead one shall come back; the image of its source is taken; the clone begins. */
  | { readonly kind: "ask"; readonly replica: number }
  | { readonly kind: "capture" }
  | { readonly kind: "begin" }
  /** A living one goes on elsewhere. `arrive`: how many of the words of its life before to each of the others are not lost. */
  | { readonly kind: "move"; readonly replica: number; readonly arrive: readonly number[] }
  /** `arrive`: how many of its words to each of the others are not lost. */
  | { readonly kind: "crash"; readonly replica: number; readonly arrive: readonly number[] };

export interface WorldSize {
  readonly replicas: number;
  readonly crashes: number;
  /** How often a dead one comes back; never unless given. */
  readonly clones?: number;
  /** How often a living one goes on elsewhere; never unless given. */
  readonly moves?: number;
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

  constructor({ replicas, crashes, clones = 0, moves = 0, program, aheadMax, Log = OperationLog }: WorldSize) {
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
      performer: 0,
      clonesLeft: clones,
      movesLeft: moves,
      clone: null,
      strangers: all.map(() => 0),
      lives: all.map(() => 0),
      known: all.map(() => all.map(() => 0)),
      hears: all.map(() => all.map(() => true)),
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
      if (crashesLeft > 0 && replicas.some((other, i) => other.isAlive && i !== replica))
        moves.push(...this.#crashes(replica));
      if (this.#mayMove(replica))
        for (const arrive of this.#arrivals(replica)) moves.push({ kind: "move", replica, arrive });
    }
    return [...moves, ...this.#cloneMoves()];
  }

  /** One at a time, and no clone meanwhile. */
  #mayMove(replica: number): boolean {
    const { replicas, clone, movesLeft } = this.#state;
    return movesLeft > 0 && clone === null && this.#isQuiet && replicas[replica]!.step === "ask";
  }

  /** Does everybody know of all that have gone on elsewhere? */
  get #isQuiet(): boolean {
    return this.#state.strangers.every((bits, replica) => bits === 0 || !this.#state.replicas[replica]!.isAlive);
  }

  #cloneMoves(): Move[] {
    const { replicas, clone, clonesLeft, news } = this.#state;
    if (clone === null) {
      const isDead = (replica: number): boolean =>
        !replicas[replica]!.isAlive && news[this.#state.performer]!.length === 0 && this.#isQuiet;
      return clonesLeft === 0 ? [] : [...replicas.keys()].filter(isDead).map((replica) => ({ kind: "ask", replica }));
    }
    if (clone.image !== null) return [{ kind: "begin" }];
    return clone.awaited === 0 && replicas[clone.source]!.step === "ask" ? [{ kind: "capture" }] : [];
  }

  /** Every number of its words may arrive. */
  #crashes(replica: number): Move[] {
    return this.#arrivals(replica).map((arrive) => ({ kind: "crash", replica, arrive }));
  }

  #arrivals(replica: number): number[][] {
    let arrives: number[][] = [[]];
    for (const queue of this.#state.channels[replica]!)
      arrives = arrives.flatMap((before) => Array.from({ length: queue.length + 1 }, (_, count) => [...before, count]));
    return arrives;
  }

  make(move: Move): void {
    const { replicas, channels, news } = this.#state;
    switch (move.kind) {
      case "run":
        this.#run(move.replica);
        return;
      case "word": {
        const word = channels[move.from]![move.to]!.shift()!;
        this.#take(move.from, move.to, word);
        this.#carry(move.to);
        return;
      }
      case "news": {
        const { replica, life } = news[move.to]!.shift()!;
        this.#heardDeath(move.to, replica, life);
        this.#carry(move.to);
        return;
      }
      case "crash":
        this.#state.crashesLeft--;
        replicas[move.replica]!.isAlive = false;
        for (const [to, count] of move.arrive.entries()) channels[move.replica]![to]!.length = count;
        this.#declare(move.replica);
        this.#crashedInClone(move.replica);
        while (!replicas[this.#state.performer]!.isAlive)
          this.#state.performer = (this.#state.performer + 1) % replicas.length;
        return;
      case "ask":
        this.#ask(move.replica);
        return;
      case "capture":
        this.#capture();
        return;
      case "begin":
        this.#beginClone();
        return;
      case "move":
        this.#move(move.replica, move.arrive);
        return;
    }
  }

  #declare(replica: number): void {
    const { replicas, news, lives } = this.#state;
    for (const [to, { isAlive }] of replicas.entries()) {
      if (isAlive) news[to]!.push({ replica, life: lives[replica]! });
    }
  }

  #heardDeath(at: number, replica: number, life: number): void {
    const { known, hears, replicas } = this.#state;
    if (life < known[at]![replica]!) return;
    known[at]![replica] = life + 1;
    hears[at]![replica] = false;
    this.#state.strangers[at]! &= ~(1 << replica);
    replicas[at]!.log.died(replica);
  }

  #carry(from: number): void {
    const { replicas, channels, hears, strangers } = this.#state;
    for (const { to, word } of replicas[from]!.log.outbox.splice(0) as AddressedWord[]) {
      if (replicas[to]!.isAlive && hears[from]![to]! && (strangers[from]! & (1 << to)) === 0)
        channels[from]![to]!.push(word);
    }
  }

  #take(from: number, to: number, word: OperationWord | CloneWord): void {
    const { replicas, channels, hears, known, clone, lives, strangers } = this.#state;
    const { log } = replicas[to]!;
    switch (word.kind) {
      case "prepare":
        if (!hears[to]![from]! || word.life < known[to]![word.replica]!) return;
        if (hears[to]![word.replica]!) this.#heardDeath(to, word.replica, word.life - 1);
        known[to]![word.replica] = word.life;
        log.expect(word.replica, word.known, word.passed);
        channels[to]![from]!.push({ kind: "prepared", life: word.life });
        return;
      case "prepared":
        if (clone !== null && clone.source === to && word.life === this.#state.lives[clone.replica])
          clone.awaited &= ~(1 << from);
        return;
      case "hello":
        if (word.life < known[to]![from]!) return;
        known[to]![from] = word.life;
        hears[to]![from] = true;
        if (word.isMoved) channels[to]![from]!.push({ kind: "aware", life: word.life });
        log.returned(from);
        return;
      case "aware":
        if (word.life !== lives[to] || (strangers[to]! & (1 << from)) === 0) return;
        strangers[to]! &= ~(1 << from);
        log.met(from);
        return;
      default:
        if (hears[to]![from]! && (strangers[to]! & (1 << from)) === 0) log.take(from, word);
    }
  }

  // Clones

  #ask(replica: number): void {
    const state = this.#state;
    const source = state.performer;
    state.clonesLeft--;
    const life = ++state.lives[replica]!;
    const { log } = state.replicas[source]!;
    state.known[source]![replica] = life;
    let awaited = 0;
    for (const [to, { isAlive }] of state.replicas.entries()) {
      if (!isAlive || to === source) continue;
      awaited |= 1 << to;
      state.channels[source]![to]!.push({ kind: "prepare", replica, life, known: log.known, passed: log.passedCount });
    }
    state.clone = { replica, source, awaited, image: null };
  }

  #capture(): void {
    const { clone, replicas } = this.#state;
    const source = replicas[clone!.source]!;
    clone!.image = JSON.stringify(source);
    source.log.expect(clone!.replica, source.log.known, source.log.passedCount);
  }

  #beginClone(): void {
    const { clone, replicas, channels, hears, known, lives, news } = this.#state;
    const { replica, image } = clone!;
    this.#state.clone = null;
    const made = JSON.parse(image!) as Replica;
    Object.setPrototypeOf(made.log, this.#Log.prototype);
    replicas[replica] = made;
    news[replica] = [];
    this.#state.strangers[replica] = 0;
    let living = 0;
    for (const [other, { isAlive }] of replicas.entries()) {
      hears[replica]![other] = isAlive;
      channels[replica]![other] = [];
      channels[other]![replica] = [];
      known[replica]![other] = lives[other]! + (isAlive ? 0 : 1);
      if (!isAlive) continue;
      living |= 1 << other;
      if (other !== replica) channels[replica]![other]!.push({ kind: "hello", life: lives[replica]!, isMoved: false });
    }
    made.log.begin(replica, living);
    this.#carry(replica);
  }

  /** What others have told the life before, and it has not heard, is lost. */
  #move(replica: number, arrive: readonly number[]): void {
    const { replicas, channels, hears, known, lives, strangers } = this.#state;
    this.#state.movesLeft--;
    const life = ++lives[replica]!;
    let living = 0;
    for (const [other, { isAlive }] of replicas.entries()) {
      hears[replica]![other] = isAlive;
      channels[replica]![other]!.length = arrive[other]!;
      channels[other]![replica] = [];
      known[replica]![other] = lives[other]! + (isAlive ? 0 : 1);
      if (isAlive) living |= 1 << other;
    }
    strangers[replica] = living & ~(1 << replica);
    replicas[replica]!.log.begin(replica, living, true);
    this.#carry(replica);
    for (const other of replicas.keys()) {
      if ((strangers[replica]! & (1 << other)) !== 0)
        channels[replica]![other]!.push({ kind: "hello", life, isMoved: true });
    }
  }

  /** The source dies before the clone has begun: there will be none. */
  #crashedInClone(replica: number): void {
    const { clone } = this.#state;
    if (clone === null) return;
    clone.awaited &= ~(1 << replica);
    if (clone.source !== replica) return;
    this.#state.clone = null;
    this.#declare(clone.replica);
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

  /** How many lives that live now began as clones. */
  get cloned(): number {
    const { replicas, lives } = this.#state;
    return replicas.filter(({ isAlive }, replica) => isAlive && lives[replica]! > 0).length;
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
