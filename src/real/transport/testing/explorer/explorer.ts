/**
 * Runs every interleaving of a few small threads over node.wat or its like, with a kill of any mortal thread between any two visible
 * steps: depth first, with a set of states already seen (memory and where each thread stands, as a 53-bit hash).
 *
 * A thread is a generator of actions, written the way the real TypeScript calls the module. It is deterministic: what it
 * does next follows from the results it has been given, so it can be run again up to any point; where a thread stands
 * is a node in the tree of its results. A generator that returns `become(key, …)` goes on as another one and forgets how
 * it got there: the key says everything its future depends on, so that loops come back to states already seen. Waiting is never a loop: `until` is a step that is possible only when its
 * condition holds, so a state in which nobody can step and somebody is not done is a violation, a deadlock.
 */
import { type CallStack, copyCall, type Machine } from "./machine.ts";

/** What threads can know about each other beyond memory: the node's main thread sees a worker's exit event. */
interface MemoryView {
  readonly words: Int32Array;
  isDead(thread: number): boolean;
  /** Done or dead. */
  isOver(thread: number): boolean;
}

export type ThreadAction =
  /** A function of the module; each visible operation in it is a step. */
  | { readonly kind: "call"; readonly name: string; readonly args: readonly number[] }
  /** One step in JavaScript; its result is the action's. */
  | { readonly kind: "step"; run(words: Int32Array): number }
  /** Possible only when the condition is not 0, which is then its result. */
  | { readonly kind: "until"; when(view: MemoryView): number }
  /** Atomics.wait on a word as long as it has that value; only a notification wakes. */
  | { readonly kind: "sleep"; readonly address: number; readonly value: number };

export type Thread = Generator<ThreadAction, unknown, number>;

export const call = (name: string, ...args: number[]): ThreadAction => ({ kind: "call", name, args });
export const step = (run: (words: Int32Array) => unknown): ThreadAction => ({
  kind: "step",
  run: (w) => Number(run(w) ?? 0),
});
export const until = (when: (view: MemoryView) => boolean | number): ThreadAction => ({
  kind: "until",
  when: (v) => Number(when(v)),
});
export const sleep = (address: number, value = 1): ThreadAction => ({ kind: "sleep", address, value });

class Become {
  readonly key: string;
  readonly run: () => Thread;
  constructor(key: string, run: () => Thread) {
    this.key = key;
    this.run = run;
  }
}
/** The last thing a generator returns when the thread goes on. */
export const become = (key: string, run: () => Thread): unknown => new Become(key, run);

interface Interleavings {
  readonly threads: readonly {
    readonly name: string;
    readonly machine: Machine;
    run(): Thread;
    readonly mortal?: boolean;
  }[];
  /** How many threads may be killed in one run. */
  readonly kills?: number;
  /** The memory at the start. */
  readonly words: Int32Array;
  /** Called at the end of every run with what the threads returned (undefined for the dead). Throws when something is wrong. */
  check(results: readonly unknown[], words: Int32Array): void;
}

export interface Exploration {
  readonly states: number;
  readonly steps: number;
  readonly ends: number;
}

export class BrokenInvariant extends Error {}

const RUNNING = 0;
const DONE = 1;
const DEAD = 2;

/** Where a thread stands: the results it has been given are the path to this node. */
interface Node {
  readonly id: number;
  /** The generator that the path starts with. */
  readonly run: () => Thread;
  readonly parent: Node | null;
  readonly result: number;
  readonly children: Map<number, Node>;
  /** What it does next; null: it is done, and `value` is what it returned. */
  readonly action: ThreadAction | null;
  readonly value: unknown;
}

interface Standing {
  readonly node: Node;
  readonly status: number;
  readonly call: CallStack | null;
  readonly asleep: boolean;
}

const statesMax = 3_000_000;

export function explore(scenario: Interleavings): Exploration {
  return new Explorer(scenario).run();
}

class Explorer implements MemoryView {
  readonly #scenario: Interleavings;
  readonly words: Int32Array;
  readonly #seen = new Set<number>();
  readonly #saved: Int32Array[] = [];
  readonly #roots = new Map<string, Node>();
  /** What led here: thread and where it stood, or that it was killed. Described only when something is wrong. */
  readonly #path: { thread: number; from: Standing | null }[] = [];
  #standing: Standing[] = [];
  /** Hash of the memory, kept up to date by what steps write: the exclusive or of a hash of each word that is not 0. */
  #memoryHigh = 0;
  #memoryLow = 0;
  #nodes = 0;
  #steps = 0;
  #ends = 0;

  constructor(scenario: Interleavings) {
    this.#scenario = scenario;
    this.words = scenario.words.slice();
    for (const { machine } of scenario.threads) machine.look(this.words);
    this.words.forEach((value, word) => void this.#changed(word, 0, value));
  }

  run(): Exploration {
    this.#standing = this.#scenario.threads.map(({ run }, thread) =>
      this.#standAt(thread, this.#become(thread, new Become("start", run))),
    );
    this.#visit(this.#scenario.kills ?? 0);
    return { states: this.#seen.size, steps: this.#steps, ends: this.#ends };
  }

  readonly isDead = (thread: number): boolean => this.#standing[thread]!.status === DEAD;
  readonly isOver = (thread: number): boolean => this.#standing[thread]!.status !== RUNNING;

  #visit(killsLeft: number): void {
    const hash = this.#hash(killsLeft);
    if (this.#seen.has(hash)) return;
    this.#seen.add(hash);
    if (this.#seen.size > statesMax)
      throw new BrokenInvariant(`more than ${statesMax} states: make the scenario smaller`);
    const depth = this.#path.length;
    this.#saved[depth] ??= new Int32Array(this.words.length);
    this.#saved[depth]!.set(this.words);
    const standing = this.#standing;
    const [high, low] = [this.#memoryHigh, this.#memoryLow];
    let moved = false;
    for (let thread = 0; thread < standing.length; thread++) {
      if (!this.#canStep(thread)) continue;
      moved = true;
      this.#path.push({ thread, from: standing[thread]! });
      this.#guard(() => this.#step(thread, this.#saved[depth]!));
      this.#visit(killsLeft);
      this.#back(depth, standing);
      this.#memoryHigh = high;
      this.#memoryLow = low;
    }
    for (let thread = 0; killsLeft > 0 && thread < standing.length; thread++) {
      if (this.#scenario.threads[thread]!.mortal !== true || standing[thread]!.status !== RUNNING) continue;
      this.#path.push({ thread, from: null });
      this.#stand(thread, { ...standing[thread]!, status: DEAD, call: null, asleep: false });
      this.#visit(killsLeft - 1);
      this.#back(depth, standing);
    }
    if (!moved) this.#end();
  }

  #back(depth: number, standing: Standing[]): void {
    this.words.set(this.#saved[depth]!);
    this.#standing = standing;
    this.#path.length = depth;
  }

  #end(): void {
    this.#ends++;
    this.#guard(() => {
      this.#standing.forEach(({ status }, thread) => {
        if (status === RUNNING) throw new BrokenInvariant(`${this.#scenario.threads[thread]!.name} waits for ever`);
      });
      const results = this.#standing.map(({ status, node }) => (status === DONE ? node.value : undefined));
      this.#scenario.check(results, this.words);
    });
  }

  /** Whatever goes wrong is told together with the steps that led there. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (error instanceof BrokenInvariant && error.message.includes("\n")) throw error;
      const what = error instanceof Error ? error.message : String(error);
      const path = this.#path.map(({ thread, from }) => {
        const { name } = this.#scenario.threads[thread]!;
        return from === null ? `${name} is killed` : `${name}: ${describe(from)}`;
      });
      throw new BrokenInvariant(`${what}\n  ${path.join("\n  ")}`);
    }
  }

  #canStep(thread: number): boolean {
    const { status, node, asleep } = this.#standing[thread]!;
    if (status !== RUNNING || asleep) return false;
    return node.action!.kind !== "until" || node.action!.when(this) !== 0;
  }

  #step(thread: number, before: Int32Array): void {
    this.#steps++;
    const { node, call: under } = this.#standing[thread]!;
    const action = node.action!;
    if (action.kind === "step") {
      const result = action.run(this.words);
      for (let word = 0; word < before.length; word++) this.#changed(word, before[word]!, this.words[word]!);
      this.#arrive(thread, node, result);
    } else if (action.kind === "until") this.#arrive(thread, node, action.when(this));
    else if (action.kind === "sleep") {
      if (this.words[action.address >> 2] !== action.value) this.#arrive(thread, node, 0);
      else this.#stand(thread, { node, status: RUNNING, call: null, asleep: true });
    } else {
      const current = copyCall(under!);
      const { machine } = this.#scenario.threads[thread]!;
      const { returned, value, notified } = machine.step(current);
      for (const word of new Set(machine.written)) this.#changed(word, before[word]!, this.words[word]!);
      if (returned) this.#arrive(thread, node, value);
      else this.#stand(thread, { node, status: RUNNING, call: current, asleep: false });
      if (notified >= 0) this.#wake(notified);
    }
  }

  #wake(address: number): void {
    for (let thread = 0; thread < this.#standing.length; thread++) {
      const { node, asleep } = this.#standing[thread]!;
      if (asleep && node.action!.kind === "sleep" && node.action!.address === address) this.#arrive(thread, node, 0);
    }
  }

  /** The thread's action had that result: on to the next one. */
  #arrive(thread: number, node: Node, result: number): void {
    let next = node.children.get(result);
    if (next === undefined) {
      next = this.#newNode(thread, node.run, node, result);
      node.children.set(result, next);
    }
    this.#stand(thread, this.#standAt(thread, next));
  }

  #standAt(thread: number, node: Node): Standing {
    const { action } = node;
    if (action === null) return { node, status: DONE, call: null, asleep: false };
    const started =
      action.kind === "call" ? this.#scenario.threads[thread]!.machine.begin(action.name, action.args) : null;
    return { node, status: RUNNING, call: started, asleep: false };
  }

  #stand(thread: number, standing: Standing): void {
    this.#standing = this.#standing.slice();
    this.#standing[thread] = standing;
  }

  /** The node a generator starts from: one for each thread and key. */
  #become(thread: number, { key, run }: Become): Node {
    const name = `${thread} ${key}`;
    let node = this.#roots.get(name);
    if (node === undefined) {
      node = this.#newNode(thread, run, null, 0);
      this.#roots.set(name, node);
    }
    return node;
  }

  #newNode(thread: number, run: () => Thread, parent: Node | null, result: number): Node {
    const results: number[] = [];
    if (parent !== null) {
      results.push(result);
      for (let node = parent; node.parent !== null; node = node.parent) results.push(node.result);
    }
    const generator = run();
    let at = generator.next();
    for (let i = results.length - 1; i >= 0; i--) at = generator.next(results[i]!);
    if (at.done === true && at.value instanceof Become) return this.#become(thread, at.value);
    const children = new Map<number, Node>();
    const id = ++this.#nodes;
    if (at.done === true) return { id, run, parent, result, children, action: null, value: at.value };
    return { id, run, parent, result, children, action: at.value, value: undefined };
  }

  #changed(word: number, before: number, now: number): void {
    if (before === now) return;
    const [was, is] = [before === 0 ? 0 : wordHash(word, before), now === 0 ? 0 : wordHash(word, now)];
    this.#memoryHigh ^= was ^ is;
    this.#memoryLow ^= Math.imul(was, 0x27d4eb2f) ^ Math.imul(is, 0x27d4eb2f);
  }

  #hash(killsLeft: number): number {
    let high = this.#memoryHigh ^ killsLeft;
    let low = this.#memoryLow ^ 0x1e3779b9;
    const mix = (value: number) => {
      high = Math.imul(high ^ value, 0x01000193) ^ (high >>> 15);
      low = Math.imul(low ^ value, 0x85ebca6b) ^ (low >>> 13);
    };
    for (const { node, status, call: current, asleep } of this.#standing) {
      mix(node.id);
      mix(status + (asleep ? 16 : 0));
      if (current === null) continue;
      for (const frame of current) {
        mix((frame.function << 12) + (frame.at << 1) + (frame.halfCopied ? 1 : 0));
        for (const value of frame.locals) mixValue(mix, value);
        for (const value of frame.stack) mixValue(mix, value);
      }
    }
    return (high >>> 0) * 0x200000 + (low & 0x1fffff);
  }
}

function wordHash(word: number, value: number): number {
  let hash = Math.imul(value ^ Math.imul(word + 1, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  return hash ^ (hash >>> 13);
}

function mixValue(mix: (value: number) => void, value: number | bigint): void {
  if (typeof value === "number") mix(value);
  else {
    mix(Number(BigInt.asIntN(32, value)));
    mix(Number(BigInt.asIntN(32, value >> 32n)));
  }
}

function describe({ node, call: current }: Standing): string {
  const action = node.action!;
  if (action.kind !== "call") return action.kind;
  return `${action.name}(${action.args.join(", ")}) at ${current!.map(({ at }) => at).join(".")}`;
}
