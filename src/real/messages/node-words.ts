/**
 * The few words that a node shares with its ranks besides their rings: the *gate*, closed until the program is there; the
 * *bell*, which ranks ring when they have printed something or wait for the node; the *quiet bell*, for what can wait a
 * moment: however often it is rung, the node answers it a thousand times a second at most; and how many threads have come to
 * the gate so far.
 */
import type { ProgramForm } from "./program-place.ts";

const forms: readonly ProgramForm[] = ["script", "module", "wasm"];
const gate = 0;
const bell = 1;
const quietBell = 2;
const arrived = 3;
const wordCount = 4;

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
