/**
 * The module of a program in C, instantiated: it is started, may stop inside an MPI call (its stack is then
 * unwound into its memory, docs/adr/0005-c-programs.md), and goes on there, in this life or another.
 */
import type { Pointer } from "../core/base/brand.ts";
import { noCaptureText } from "../core/base/capture-points.ts";
import type { Memory } from "../core/request/memory.ts";
import type { HeapRange } from "../core/request/program-heap.ts";
import { Ended } from "./ended.ts";
import type { Program } from "./program.ts";

/** The program's memory, with our part at its end (core/request/program-heap.ts). */
export interface CMemory extends Memory {
  readonly memory: WebAssembly.Memory;
  readonly words: Int32Array;
  /** The module is there, and has its marks at that address. */
  attach(marks: number): void;
  /** What an image holds. */
  ranges(): HeapRange[];
}

/**
 * Where a stack is unwound to. As much as the deepest one takes, which the thread's own stack bounds; pages that
 * nobody touches cost nothing. It is claimed first, so it lies at the end of the memory: Asyncify does not look where it
 * writes, and behind the end it traps instead of spoiling something.
 */
const areaBytesMax = 64 << 20;

/** Of an unwound stack, plain data: part of an image. */
export interface UnwoundStack {
  /** Where the area is, and how long; 0: there is none. */
  area: number;
  bytes: number;
  /** C's own stack pointer. */
  pointer: number;
}

export type Imports = WebAssembly.Imports;

interface Exports {
  readonly _start: () => void;
  readonly __stack_pointer: WebAssembly.Global;
  readonly __indirect_function_table: WebAssembly.Table;
  readonly banyan_memory: WebAssembly.Global;
  readonly asyncify_start_unwind: (area: number) => void;
  readonly asyncify_stop_unwind: () => void;
  readonly asyncify_start_rewind: (area: number) => void;
  readonly asyncify_stop_rewind: () => void;
  readonly asyncify_get_state: () => number;
}

const UNWINDING = 1;
/** Words in front of the area: where it is free, where it ends. */
const headBytes = 8;

export function newStack(memory: CMemory): UnwoundStack {
  const bytes = Math.min(areaBytesMax, memory.bytes.length >> 4);
  return { area: memory.allocate(bytes), bytes, pointer: 0 };
}

/** The part of the area that no unwound stack reaches: whatever it holds, nobody will read it. */
export function unusedArea({ area, bytes }: UnwoundStack, words: Int32Array): HeapRange {
  // Nothing has been unwound there yet while the word is 0.
  const used = Math.max(area + headBytes, words[area >> 2]!);
  return [used, area + bytes];
}

/** Can the program be stopped inside its calls? Not if it was linked with `--no-capture`: the linker wrote that down. */
export function canStop(module: WebAssembly.Module): boolean {
  const [section] = WebAssembly.Module.customSections(module, "banyan");
  return section === undefined || !new TextDecoder().decode(section).includes(noCaptureText);
}

export class CProgram {
  readonly #binding: Program;
  readonly #memory: CMemory;
  readonly #stack: UnwoundStack;
  readonly #exports: Exports;

  /** Of a restored process all of its state is there already, its memory too: the module finds it as it left it. */
  constructor(module: WebAssembly.Module, imports: Imports, binding: Program, memory: CMemory, stack: UnwoundStack) {
    this.#binding = binding;
    this.#memory = memory;
    this.#stack = stack;
    this.#exports = new WebAssembly.Instance(module, imports).exports as unknown as Exports;
    memory.attach(this.#exports.banyan_memory.value as number);
    const table = this.#exports.__indirect_function_table;
    binding.isFunction = (fn) => fn > 0 && fn < table.length && table.get(fn) !== null;
    binding.parametersOf = (fn) => (table.get(fn) as (...args: never[]) => void).length;
    binding.suspension.unwinding = {
      start: () => this.#startUnwinding(),
      rewound: () => this.#exports.asyncify_stop_rewind(),
    };
  }

  /** True when the program has come to its end, false when it has stopped. */
  start(): boolean {
    return this.#run();
  }

  goOn(): boolean {
    const { area, pointer } = this.#stack;
    this.#exports.__stack_pointer.value = pointer;
    this.#binding.suspension.isRewinding = true;
    this.#binding.process.pass.setOutside(true);
    this.#exports.asyncify_start_rewind(area);
    return this.#run();
  }

  #run(): boolean {
    try {
      this.#exports._start();
    } catch (error) {
      // `exit(0)` is an end like any other.
      if (error instanceof Ended && error.ending.kind === "exited" && error.ending.code === 0) return true;
      throw error;
    }
    if (this.#exports.asyncify_get_state() !== UNWINDING) return true;
    this.#exports.asyncify_stop_unwind();
    this.#stack.pointer = this.#exports.__stack_pointer.value as number;
    return false;
  }

  #startUnwinding(): void {
    const { area, bytes } = this.#stack;
    const { words } = this.#memory;
    words[area >> 2] = area + headBytes;
    words[(area >> 2) + 1] = area + bytes;
    this.#exports.asyncify_start_unwind(area as Pointer);
  }
}
