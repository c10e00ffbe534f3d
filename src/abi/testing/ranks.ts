/**
 * Several C programs without C (test-program.ts) that call blocking functions together. All ranks are in one thread: a rank
 * that waits lets those act that have not yet, above it on the stack, so in one `all` each rank may make one call that needs
 * the others.
 */
import { assert } from "../../core/base/assert.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { Rest } from "../../sim/rest.ts";
import { World, type WorldOptions } from "../../sim/world.ts";
import { TestProgram } from "./program.ts";

export const WORLD = 0x101;
export const SELF = 0x102;
export const INT = 0x209;
export const INFO_NULL = 0x130;
export const COMM_NULL = 0x100;
export const ERRORS_RETURN = 0x143;

type Act<T> = (c: TestProgram, rank: number) => T;

export class TestRanks {
  readonly programs: readonly TestProgram[];
  readonly #world: World;
  readonly #rest: Rest;
  /** What the ranks have still to do, each at its index. */
  #waiting: (() => void)[] = [];

  constructor(ranks: number, { nodes = 1, seed = 1, ...rest }: Omit<Partial<WorldOptions>, "ranks"> = {}) {
    this.#world = new World({ ranks, nodes, seed, ...rest });
    this.#rest = new Rest(ranks);
    this.programs = this.#world.processes.map((process) => {
      const c = new TestProgram(this.#world, process);
      const { host } = c.program;
      host.waitUntil = (isReady) => this.#wait(isReady);
      host.wait = (request) => this.#wait(() => process.engine.isComplete(request));
      // Number 1 in the table means MPI_COMM_DUP_FN, so no program has a function there.
      c.function(() => 0);
      c.call("MPI_Init", 0, 0);
      return c;
    });
  }

  /** Every rank does it. What each of them gets. */
  all<T>(act: Act<T>): T[] {
    const results: T[] = [];
    this.#waiting = this.programs.map((c, rank) => () => {
      results[rank] = act(c, rank);
    });
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) next();
    this.#settle();
    return results;
  }

  /** Every rank calls a function whose last parameter is an address; what it finds there. */
  get(name: string, args: (c: TestProgram, rank: number) => readonly number[]): number[] {
    return this.all((c, rank) => {
      const out = c.alloc(4);
      const code = c.call(name, ...args(c, rank), out);
      assert(code === ErrorClass.SUCCESS, `${name} of rank ${rank} gave ${code}`);
      return c.int(out);
    });
  }

  #wait(isReady: () => boolean): boolean {
    for (;;) {
      this.#settle();
      if (isReady()) return true;
      const next = this.#waiting.pop();
      if (next !== undefined) next();
      else assert(this.ask(), "a rank waits for what never comes");
    }
  }

  /** All ranks have done what they could, and have waited long. False: nobody has anything left to ask. */
  ask(): boolean {
    const { processes } = this.#world;
    if (!this.#rest.isWorthAsking(processes)) return false;
    return processes.map(({ core }) => core.inquiries.ask()).includes(true);
  }

  #settle(): void {
    do this.#world.run();
    while (this.#world.processes.map(({ core }) => core.progress()).includes(true));
  }
}
