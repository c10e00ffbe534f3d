/** The functions of a C program in a stack trace of V8, innermost first: the program's own, and those of MPI. */
import { nullAccessName } from "../../core/base/low-memory.ts";
import type { SourceLines } from "./source-lines.ts";

/** Frames named in a report: enough to find the way, few enough to read. */
const framesMax = 20;
/** Of the C library's start and ours: they say nothing to the program's author. */
const ours = /^(_start|__main_void|__wasm_call_ctors|asyncify_\w+|banyan_\w+)$/;
/** By which a program raises a signal on itself; what these call is nobody's business. */
const raising = /^(abort|raise|kill|__assert_fail)$/;
const mpiName = /^P?(MPIX?_\w+)$/;
/** What clang calls main, depending on its parameters. */
const mainNames = /^(__original_main|__main_argc_argv)$/;

interface Frame {
  readonly name: string;
  readonly offset: number;
}

export class CStack {
  readonly #frames: readonly Frame[];
  /** The innermost function is the one that traps for accesses through null pointers. */
  readonly isNullAccess: boolean;

  /** `stack`: of an error. */
  constructor(stack: string) {
    const frames = framesOf(stack);
    this.isNullAccess = frames[0]?.name === nullAccessName;
    const raised = frames.findLastIndex(({ name }) => raising.test(name));
    this.#frames = frames.slice(raised + 1).filter(({ name }) => !ours.test(name));
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** "solve (solver.c:42:7)", or "solve" where the line is not known. */
  frames(lines: SourceLines | undefined): string[] {
    const texts: string[] = [];
    let repeated = 0;
    for (const { name, offset } of this.#frames) {
      const place = lines?.at(offset);
      const text = place === undefined ? shownName(name) : `${shownName(name)} (${place})`;
      if (text === texts.at(-1)) repeated++;
      else {
        repeatedLast(texts, repeated);
        repeated = 0;
        if (texts.length === framesMax) return texts;
        texts.push(text);
      }
    }
    repeatedLast(texts, repeated);
    return texts;
  }
}

/** A function that calls itself is one line. */
function repeatedLast(texts: string[], times: number): void {
  if (times > 0) texts.push(`… and ${times} more of the same`);
}

function framesOf(stack: string): Frame[] {
  const frames: Frame[] = [];
  for (const line of stack.split("\n")) {
    const parts = /^\s+at (?:(.*) \()?wasm:\S*:wasm-function\[\d+\]:0x([0-9a-f]+)\)?$/.exec(line);
    if (parts === null) continue;
    // In front stands the module's name, as the linker calls what it makes.
    const name = parts[1]?.replace(/^-\./, "");
    if (name !== undefined) frames.push({ name, offset: Number.parseInt(parts[2]!, 16) });
  }
  return frames;
}

function shownName(name: string): string {
  return mainNames.test(name) ? "main" : (mpiName.exec(name)?.[1] ?? name);
}
