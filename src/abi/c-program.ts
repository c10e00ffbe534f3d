/**
 * The module of a program in C, instantiated: it is started, may stop inside an MPI call (its stack is then
 * unwound into its memory, docs/adr/0005-c-programs.md), and goes on there, in this life or another.
 */
import { noCaptureText } from "../core/base/capture-points.ts";
import type { Memory } from "../core/request/memory.ts";
import type { HeapRange, MemoryMarks } from "../core/request/memory-marks.ts";
import type { CrashedProgram } from "./crash/crash.ts";
import { LowMemory } from "./crash/low-memory.ts";
import { type SourceLines, sourceLinesOf } from "./crash/source-lines.ts";
import { Ended } from "./ended.ts";
import type { Program } from "./program.ts";
import switchBytes from "./stack-switch.wat";

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
  readonly __indirect_function_table: WebAssembly.Table;
  readonly __stack_pointer: WebAssembly.Global;
  readonly banyan_memory: WebAssembly.Global;
  readonly asyncify_stop_rewind: () => void;
}

/** Functions of stack-switch.wat; those of a program that takes turns without JavaScript (real/c-rank/turns.wat). */
export interface StackSwitch {
  readonly unwind: () => void;
  readonly goOn: () => number;
  /** The stack has been put back. */
  readonly rewound: () => void;
}

interface SwitchExports extends Omit<StackSwitch, "rewound"> {
  readonly start: () => number;
  readonly pointer: WebAssembly.Global;
}

let switchModule: WebAssembly.Module | undefined;

export function newStack(memory: CMemory): UnwoundStack {
  const bytes = Math.min(areaBytesMax, memory.bytes.length >> 4);
  return { area: memory.allocate(bytes), bytes, pointer: 0 };
}

/** Can the program be stopped inside its calls? Not if it was linked with `--no-capture`: the linker wrote that down. */
export function canStop(module: WebAssembly.Module): boolean {
  return !madeHow(module).includes(noCaptureText);
}

/** Is nothing of the program in the first bytes of its memory? */
function leavesLowMemory(module: WebAssembly.Module): boolean {
  return Number(/"contract":(\d+)/.exec(madeHow(module))?.[1] ?? 0) >= 2;
}

/** The linker's words. */
function madeHow(module: WebAssembly.Module): string {
  const [section] = WebAssembly.Module.customSections(module, "banyan");
  return section === undefined ? "" : new TextDecoder().decode(section);
}

export class CProgram implements CrashedProgram {
  readonly #module: WebAssembly.Module;
  readonly #binding: Program;
  readonly #stack: UnwoundStack;
  readonly #exports: Exports;
  /** Null: the program was linked with `--no-capture`, and never stops. */
  readonly #switch: SwitchExports | null;

  /** Of a restored process all of its state is there already, its memory too: the module finds it as it left it. */
  constructor(module: WebAssembly.Module, imports: Imports, binding: Program, memory: CMemory, stack: UnwoundStack) {
    this.#module = module;
    this.#binding = binding;
    this.#stack = stack;
    const { exports } = new WebAssembly.Instance(module, imports);
    this.#exports = exports as unknown as Exports;
    this.#switch = canStop(module) ? switchOf(memory, exports, stack) : null;
    memory.attach(this.#exports.banyan_memory.value as number);
    if (leavesLowMemory(module)) binding.lowMemory = new LowMemory(memory.words);
    const table = this.#exports.__indirect_function_table;
    binding.isFunction = (fn) => fn > 0 && fn < table.length && table.get(fn) !== null;
    binding.parametersOf = (fn) => (table.get(fn) as (...args: never[]) => void).length;
    binding.suspension.unwinding = {
      start: () => this.#switch!.unwind(),
      rewound: () => this.#exports.asyncify_stop_rewind(),
    };
  }

  /** Where it says how much of its memory is in use. */
  get marks(): MemoryMarks {
    const { area, bytes } = this.#stack;
    return { marks: this.#exports.banyan_memory.value as number, area, bytes };
  }

  get stackPointer(): number {
    return this.#exports.__stack_pointer.value as number;
  }

  lines(): SourceLines | undefined {
    return sourceLinesOf(this.#module);
  }

  /** Null: the program never stops. */
  get stackSwitch(): StackSwitch | null {
    if (this.#switch === null) return null;
    const { unwind, goOn } = this.#switch;
    return { unwind, goOn, rewound: this.#exports.asyncify_stop_rewind };
  }

  /** True when the program has come to its end, false when it has stopped. */
  start(): boolean {
    return this.ran(() => {
      if (this.#switch === null) this.#exports._start();
      else this.#switch.start();
    });
  }

  goOn(): boolean {
    this.#binding.suspension.isRewinding = true;
    this.#binding.process.pass.setOutside(true);
    return this.ran(() => this.#switch!.goOn());
  }

  /** The program runs, or has run: `run` throws what the program has thrown. The answer is that of `start`. */
  ran(run: () => void): boolean {
    try {
      run();
    } catch (error) {
      // `exit(0)` is an end like any other.
      if (error instanceof Ended && error.ending.kind === "exited" && error.ending.code === 0) return this.#ended();
      throw error;
    }
    this.#stack.pointer = (this.#switch?.pointer.value ?? 0) as number;
    return this.#stack.pointer === 0 && this.#ended();
  }

  #ended(): true {
    this.#binding.lowMemory.check("the end of the program");
    return true;
  }
}

function switchOf({ memory }: CMemory, program: WebAssembly.Instance["exports"], stack: UnwoundStack): SwitchExports {
  switchModule ??= new WebAssembly.Module(switchBytes);
  const { area, bytes, pointer } = stack;
  const imports = { memory: { memory }, program, stack: { area, bytes } };
  const made = new WebAssembly.Instance(switchModule, imports).exports as unknown as SwitchExports;
  made.pointer.value = pointer;
  return made;
}
