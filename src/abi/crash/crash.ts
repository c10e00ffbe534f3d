/**
 * The end of a C program that did what machines answer with a signal: a trap of WebAssembly, a stack that is used up, `abort()`. Which
 * signal that is elsewhere, what has happened in words, and the stack of C.
 */
import { lowMemoryBytes } from "../../core/base/low-memory.ts";
import type { Ending, Signalled } from "../../core/service/ending.ts";
import { Ended } from "../ended.ts";
import { CStack } from "./c-stack.ts";
import type { SourceLines } from "./source-lines.ts";

/** What is known of the program that has crashed. */
export interface CrashedProgram {
  /** Of C, as it stood; undefined: there was no program yet. */
  readonly stackPointer: number | undefined;
  lines(): SourceLines | undefined;
}

type Signal = Pick<Signalled, "signal" | "name">;
const SIGILL: Signal = { signal: 4, name: "SIGILL" };
const SIGBUS: Signal = { signal: 7, name: "SIGBUS" };
const SIGFPE: Signal = { signal: 8, name: "SIGFPE" };
const SIGSEGV: Signal = { signal: 11, name: "SIGSEGV" };

const tooDeep = "the stack is used up: functions call themselves or each other too deep, or without end";
const badPointer = "a pointer that is null, or whose type has other parameters, is called as a function";

/** V8's words for its traps. */
const traps: readonly (readonly [RegExp, Signal, string])[] = [
  [/divide by zero|remainder by zero/, SIGFPE, "integer division by zero"],
  [/divide result unrepresentable/, SIGFPE, "integer overflow in a division"],
  [/float unrepresentable/, SIGFPE, "floating-point number too large for the integer type"],
  [/signature mismatch|null function/, SIGSEGV, badPointer],
  [/table index|indirect call/, SIGSEGV, badPointer],
  [/out of bounds/, SIGSEGV, "memory access out of bounds"],
  [/unaligned/, SIGBUS, "atomic access to an address that is not aligned"],
  [/unreachable/, SIGILL, "a trap instruction: __builtin_trap, or code that undefined behaviour leads to"],
];

/** The ending of a program that has thrown that; undefined: no matter of C. */
export function endingOfCrash(error: unknown, program: CrashedProgram): Ending | undefined {
  if (error instanceof Ended) {
    const { ending } = error;
    if (ending.kind !== "signalled") return ending;
    const frames = new CStack(error.stack ?? "").frames(program.lines());
    // A mistake that a function of MPI has found is its caller's.
    const isFound = ending.why !== "" && /^MPIX?_/.test(frames[0] ?? "");
    return { ...ending, frames: isFound ? frames.slice(1) : frames };
  }
  if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) return undefined;
  const stack = new CStack(error.stack ?? "");
  const crash = describeTrap(error, stack, program);
  return crash && { kind: "signalled", ...crash, frames: stack.frames(program.lines()) };
}

type Crash = Pick<Signalled, "signal" | "name" | "why">;

function describeTrap(error: Error, stack: CStack, { stackPointer }: CrashedProgram): Crash | undefined {
  if (error instanceof RangeError) {
    return /call stack/.test(error.message) && !stack.isEmpty ? { ...SIGSEGV, why: tooDeep } : undefined;
  }
  if (stack.isNullAccess) return { ...SIGSEGV, why: "access through a null pointer" };
  const [, signal, why] = traps.find(([words]) => words.test(error.message)) ?? [null, SIGILL, error.message];
  const isOverflow = signal === SIGSEGV && stackPointer !== undefined && stackPointer < lowMemoryBytes;
  return { ...signal, why: isOverflow ? tooDeep : why };
}
