/**
 * C programs without C, for tests of the binding: processes of a simulated world, whose imports a test calls with arguments
 * that it has put into their memory. `call` does what the wrapper in C does, callbacks included; the functions that a program
 * would have in its table are JavaScript here.
 *
 * Errors are fatal unless a test says otherwise, and a fatal one is an exception, so a call that returns has succeeded.
 */
import { importedFunctions } from "../../../scripts/mpi-wrappers.mjs";
import { assert } from "../../core/base/assert.ts";
import type { Pointer } from "../../core/base/brand.ts";
import { Now } from "../../core/binding/operations.ts";
import { ProcessOperations } from "../../core/binding/process-operations.ts";
import { type Watched, watched } from "../../core/binding/testing/watched-operations.ts";
import { noSpawner } from "../../core/process/spawner.ts";
import type { SimMemory } from "../../sim/memory.ts";
import type { SimProcess } from "../../sim/sim-process.ts";
import { World } from "../../sim/world.ts";
import { addressMin } from "../arguments/buffers.ts";
import { importsOf } from "../binding.ts";
import type { Call } from "../call-table.ts";
import type { FunctionPointer } from "../handles/objects.ts";
import { Program } from "../program.ts";
import type { CHost } from "../waiting/host.ts";

/** The functions of MPI that a C program imports; the support library has the others. */
export const importNames: readonly string[] = importedFunctions().map(({ name }) => name);

const imported: ReadonlySet<string> = new Set(["callback", "callback_done", ...importNames]);

/** The job was ended: by an error that nobody handled, or by MPI_Abort. */
export class JobEnded extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Value = number | bigint;
type CFunction = (...args: number[]) => number | undefined;

/** Words of `struct banyan_call`: kind, function, arguments. */
const callWords = 10;

export class TestProgram {
  readonly program: Program;
  /** What the program has started, and not given back. */
  readonly watched: Watched;
  readonly memory: SimMemory;
  readonly #world: World;
  readonly #importOf: (name: string) => Call;
  /** Those that were called: to make all of them takes longer than most tests. */
  readonly #imports = new Map<string, Call>();
  /** The program's table; 0 is no function. */
  readonly #functions: CFunction[] = [
    () => {
      assert(false, "function 0 is called");
    },
  ];
  readonly #ownBytes: number[] = [];
  readonly #bytesAtStart: number;

  constructor(world: World, process: SimProcess) {
    this.memory = process.memory;
    // As in a linked program nothing lies where addresses are none.
    this.memory.allocate(addressMin);
    this.#bytesAtStart = this.memory.bytesAllocated;
    this.#world = world;
    const waitUntil = (isReady: () => boolean): boolean => {
      while (!isReady()) {
        const before = world.trace.events;
        const moved = process.core.progress();
        world.run();
        assert(moved || isReady() || world.trace.events > before, "the program waits for what never comes");
      }
      return true;
    };
    const host: CHost = {
      process: process.core,
      survivesDeaths: true,
      processorName: "test",
      wait: (request) => waitUntil(() => process.engine.isComplete(request)),
      waitUntil,
      receiveNow: () => Now.MUST_POST,
      look: () => void process.core.progress(),
      stop: { words: new Int32Array(1), at: 0 },
      spawner: noSpawner(process.core.ranks, "this is a test"),
      abort: (code, message) => {
        throw new JobEnded(code, message);
      },
      now: () => world.nowNs / 1e9,
      moveClockTo() {},
    };
    this.watched = watched(new ProcessOperations(host));
    this.program = new Program(host, this.watched.operations);
    this.#importOf = importsOf(this.program);
  }

  /** Packets arrive, everywhere; for tests of several ranks that only look. */
  settle(): void {
    this.#world.run();
  }

  /** As C calls it. Answers the error code. */
  call(name: string, ...args: readonly Value[]): number {
    let answer = this.value(name, ...args);
    while (answer < 0) {
      const call = this.alloc(4 * callWords);
      this.value("callback", call);
      const [, fn, ...rest] = this.program.list(call, callWords);
      const result = this.#functions[fn!]!(...rest);
      answer = this.value("callback_done", result ?? 0);
    }
    return answer;
  }

  /** Functions whose result is no error code. */
  value(name: string, ...args: readonly Value[]): number {
    let call = this.#imports.get(name);
    if (call === undefined) {
      assert(imported.has(name), `C programs do not import ${name}`);
      call = this.#importOf(name);
      this.#imports.set(name, call);
    }
    return call(...args);
  }

  /** Calls a function whose last parameter is the address of an int, or handle, and gives that. */
  get(name: string, ...args: readonly Value[]): number {
    const out = this.alloc(4);
    this.call(name, ...args, out);
    return this.int(out);
  }

  /** The address of a function, for the program to pass on. */
  function(call: CFunction): FunctionPointer {
    return this.#functions.push(call) - 1;
  }

  // Memory

  /** Zeros. They live as long as the program. */
  alloc(bytes: number): number {
    const at = this.memory.allocate(Math.max(bytes, 1));
    this.#ownBytes.push(at);
    this.program.bytes.fill(0, at, at + bytes);
    return at;
  }

  /** The program's own memory goes. Answers how many bytes the binding has allocated and not given back. */
  end(): number {
    for (const at of this.#ownBytes.splice(0)) this.memory.free(at as Pointer);
    return this.memory.bytesAllocated - this.#bytesAtStart;
  }

  ints(...values: readonly number[]): number {
    const at = this.alloc(4 * values.length);
    this.program.putList(at, values);
    return at;
  }

  /** MPI_Counts. */
  longs(...values: readonly Value[]): number {
    const at = this.alloc(8 * values.length);
    for (const [i, value] of values.entries()) this.program.longs[(at >> 3) + i] = BigInt(value);
    return at;
  }

  text(text: string): number {
    const at = this.alloc(4 * text.length + 1);
    this.program.putText(at, text, 4 * text.length + 1);
    return at;
  }

  int(at: number): number {
    return this.program.ints[at >> 2]!;
  }

  long(at: number): number {
    return Number(this.program.longs[at >> 3]);
  }

  list(at: number, count: number): number[] {
    return this.program.list(at, count);
  }
}

/** The programs of all ranks of a world; MPI_Init has been called. */
export function testPrograms(ranks: number): TestProgram[] {
  const world = new World({ ranks });
  return world.processes.map((process) => {
    const program = new TestProgram(world, process);
    program.call("MPI_Init", 0, 0);
    return program;
  });
}

/** A program of one rank. */
export function testProgram(): TestProgram {
  return testPrograms(1)[0]!;
}
