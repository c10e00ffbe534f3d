/**
 * The few words that a node shares with its ranks besides their rings: the *gate*, closed until the program is there; the
 * *bell*, which ranks ring when they have printed something or wait for the node; the *quiet bell*, for what can wait a
 * moment: however often it is rung, the node answers it a thousand times a second at most; and how many threads have come to
 * the gate so far.
 */
import type { ProgramForm } from "./node-messages.ts";

const forms: readonly ProgramForm[] = ["script", "module", "wasm"];
const gate = 0;
const bell = 1;
const quietBell = 2;
const arrived = 3;
const wordCount = 4;
/** How long after the quiet bell the node does not hear it. */
const quietMs = 1;

export function createNodeWords(): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * wordCount);
}

export function bellOf(words: SharedArrayBuffer): Int32Array {
  return new Int32Array(words, 4 * bell, 1);
}

export function quietBellOf(words: SharedArrayBuffer): Int32Array {
  return new Int32Array(words, 4 * quietBell, 1);
}

/** The node: lets the ranks run; the open gate says how the program is to be loaded. */
export function openGate(words: SharedArrayBuffer, form: ProgramForm): void {
  const view = new Int32Array(words);
  Atomics.store(view, gate, 1 + forms.indexOf(form));
  Atomics.notify(view, gate);
}

/** One more has come to the gate, or never will: its thread has ended. */
export function countArrival(words: SharedArrayBuffer): void {
  const view = new Int32Array(words);
  Atomics.add(view, arrived, 1);
  Atomics.notify(view, arrived);
}

/** The node: until so many threads have come to the gate. */
export async function arrivals(words: SharedArrayBuffer, threads: number): Promise<void> {
  const view = new Int32Array(words);
  for (let seen = Atomics.load(view, arrived); seen < threads; seen = Atomics.load(view, arrived)) {
    const waiting = Atomics.waitAsync(view, arrived, seen);
    if (waiting.async) await waiting.value;
  }
}

/** A rank whose code is loaded: waits for the program. */
export function passGate(words: SharedArrayBuffer): ProgramForm {
  const view = new Int32Array(words);
  countArrival(words);
  while (Atomics.load(view, gate) === 0) Atomics.wait(view, gate, 0, 1000);
  return forms[Atomics.load(view, gate) - 1]!;
}

/** A rank: there is something to read. Costs a wake-up only when the node sleeps. */
export function ring(bellView: Int32Array): void {
  if (Atomics.exchange(bellView, 0, 1) === 0) Atomics.notify(bellView, 0);
}

/**
 * The node: calls `work` whenever the bell has rung. `Atomics.waitAsync` does not keep the process alive; its channel to
 * the dispatcher does.
 */
export async function onBell(bellView: Int32Array, work: () => void): Promise<never> {
  for (;;) {
    const waiting = Atomics.waitAsync(bellView, 0, 0);
    if (waiting.async) await waiting.value;
    // Cleared before the work: what comes during it rings again.
    Atomics.store(bellView, 0, 0);
    work();
    await nextTurn();
  }
}

/** The same for the quiet bell. */
export async function onQuietBell(bellView: Int32Array, work: () => void): Promise<never> {
  for (;;) {
    const waiting = Atomics.waitAsync(bellView, 0, 0);
    if (waiting.async) await waiting.value;
    await new Promise<void>((resolve) => setTimeout(resolve, quietMs));
    Atomics.store(bellView, 0, 0);
    work();
  }
}

/** A rank that prints without end must not keep the node's event loop from everything else. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
