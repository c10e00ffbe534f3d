/**
 * MPI_Count has 64 bits. Every `_c` function of include/mpi.h is called with counts that 31, 32, 53 or 63 bits cannot hold, and
 * with negative ones, wherever a count is read: it does exactly what it says, or refuses in one line that names the call, and
 * has changed nothing then. (The `_x` functions are the `_c` ones under their old names: src/cc/support/removed.c.) Rows M6, X8.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { isPointer, parameterName } from "../../scripts/mpi-signatures.mjs";
import { declaredFunctions, importedFunctions } from "../../scripts/mpi-wrappers.mjs";
import { DISTRIBUTE_BLOCK, DISTRIBUTE_DFLT_DARG, ORDER_C, UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { predefinedTypes } from "../core/comm/datatype/datatype-predefined.ts";
import { predefinedOps } from "../core/comm/op/op-predefined.ts";
import { TestDisk } from "./testing/disk.ts";
import { JobEnded, type TestProgram } from "./testing/program.ts";
import { INFO_NULL, INT, SELF, TestRanks, WORLD } from "./testing/ranks.ts";

const ERRORS_ARE_FATAL = 0x141;
const [BYTE, SHORT] = [predefinedTypes.BYTE.handle, predefinedTypes.SHORT.handle];
const [CREATE, RDWR] = [2, 32];
const E = ErrorClass;

/** The values that a narrower type would take for another one are among them: 2^32 would be 0, 2^32 + 1 would be 1. */
const counts = [2n ** 31n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 53n, 2n ** 63n - 1n, -1n, -(2n ** 31n), -(2n ** 63n)];

type Prototype = ReturnType<typeof importedFunctions>[number];

const large = importedFunctions().filter(({ name }) => name.endsWith("_c"));
const holdsCount = (parameter: string): boolean => /\bMPI_(Count|Offset)\b/.test(parameter);
/** Those that the call reads: parameters, constant arrays, and the position in a packed buffer. */
const isRead = (parameter: string): boolean =>
  holdsCount(parameter) && (!isPointer(parameter) || /^const |\*position$/.test(parameter));

/** A program of one rank with everything that a call can be about. Errors end it. */
class Setting {
  readonly c: TestProgram;
  readonly #file: number;
  readonly #ring: number;
  readonly #message: number;
  readonly #places: number;
  readonly types: readonly (readonly [what: string, type: number])[];

  constructor() {
    const [c] = new TestRanks(1).programs as [TestProgram];
    this.c = c;
    new TestDisk().giveTo(c);
    this.#file = c.get("MPI_File_open", SELF, c.text("x"), CREATE | RDWR, INFO_NULL);
    c.call("MPI_File_set_errhandler", this.#file, ERRORS_ARE_FATAL);
    this.#ring = c.get("MPI_Cart_create", WORLD, 1, c.ints(1), c.ints(1), 0);
    c.call("MPI_Isend", c.ints(1), 1, INT, 0, 7, SELF, c.alloc(4));
    this.#message = c.alloc(4);
    c.call("MPI_Mprobe", 0, 7, SELF, this.#message, 0);
    this.types = [
      ["an int", INT],
      ["nothing", this.#committed(c.get("MPI_Type_contiguous", 0, INT))],
      ["an int far from the next", this.#committed(c.get("MPI_Type_create_resized_c", INT, 0n, 2n ** 40n))],
      ["every other int", this.#committed(c.get("MPI_Type_vector_c", 2n, 1n, 2n, INT))],
    ];
    this.#places = c.alloc(16 * placeBytes);
  }

  #committed(type: number): number {
    this.c.call("MPI_Type_commit", this.c.ints(type));
    return type;
  }

  /** One of everything, but for the count at one parameter. */
  argumentsOf({ name, parameters }: Prototype, index: number, count: bigint, type: number): (number | bigint)[] {
    const { c } = this;
    return parameters.map((parameter, i) => {
      const key = parameterName(parameter);
      const value = i === index ? count : 1n;
      if (key === "datarep") return c.text("external32");
      if (key === "message") return this.#message;
      if (isPointer(parameter)) return this.#place(i, parameter, value, i === index, type);
      if (holdsCount(parameter)) return value;
      if (/^MPI_Comm /.test(parameter)) return /eighbor/.test(name) ? this.#ring : WORLD;
      if (/^MPI_File /.test(parameter)) return this.#file;
      if (/^MPI_Datatype /.test(parameter)) return type;
      if (/^MPI_Op /.test(parameter)) return predefinedOps.SUM.handle;
      if (key === "order") return ORDER_C;
      return /^(root|dest|source|rank|\w*tag)$/.test(key) ? 0 : 1;
    });
  }

  /** An address for a parameter, with two of what belongs there. */
  #place(i: number, parameter: string, value: bigint, isTried: boolean, type: number): number {
    const { ints, longs, bytes } = this.c.program;
    const at = this.#places + placeBytes * i;
    bytes.fill(0, at, at + placeBytes);
    const isPlace = /displacements|starts|position/.test(parameter);
    if (holdsCount(parameter)) longs.fill(isTried ? value : isPlace ? 0n : 1n, at >> 3, (at >> 3) + 2);
    if (/MPI_Datatype /.test(parameter)) ints.fill(type, at >> 2, (at >> 2) + 2);
    if (/distribs/.test(parameter)) ints.fill(DISTRIBUTE_BLOCK, at >> 2, (at >> 2) + 2);
    if (/dargs/.test(parameter)) ints.fill(DISTRIBUTE_DFLT_DARG, at >> 2, (at >> 2) + 2);
    if (/psizes/.test(parameter)) ints.fill(1, at >> 2, (at >> 2) + 2);
    return at;
  }

  /** Calls it; the code, and what was said. Whatever is refused leaves memory and requests as they were. */
  outcome({ name }: Prototype, args: readonly (number | bigint)[]): { code: number; said: string } {
    const { c } = this;
    const bytes = () =>
      Buffer.from(c.program.bytes.slice(this.#places, this.#places + 16 * placeBytes)).toString("hex");
    const state = () => [bytes(), c.int(this.#message), c.memory.bytesAllocated, c.watched.open.size];
    const before = state();
    try {
      equal(c.call(name, ...args), 0);
      // A file has one split collective at a time.
      if (/_begin_c$/.test(name)) c.call(name.replace("_begin_c", "_end"), this.#file, 64, 0);
      return { code: 0, said: "" };
    } catch (error) {
      if (!(error instanceof JobEnded)) throw error;
      deepEqual(state(), before, `${name}(${args}) has left something behind: ${error.message}`);
      return { code: error.code, said: error.message };
    }
  }
}
const placeBytes = 64;

/** What may come of a count where an int is the datatype, as far as the standard or the size of our memory settle it. */
function wanted(name: string, parameter: string, count: bigint): readonly number[] {
  const isExact = count >= -(2n ** 53n) && count < 2n ** 53n;
  const refused = count < 0n ? [E.COUNT, E.ARG] : [E.COUNT, E.ARG, E.BUFFER, E.VALUE_TOO_LARGE];
  if (/^MPI_(Pack|Pack_external)_size_c$/.test(name)) {
    return count < 0n ? [E.COUNT] : 4n * count < 2n ** 63n ? [0] : [E.VALUE_TOO_LARGE];
  }
  if (name === "MPI_Status_set_elements_c") return count >= 0n && 4n * count < 2n ** 63n ? [0] : [E.COUNT];
  if (parameter === "offset") return count >= 0n && isExact ? [0] : [E.ARG];
  // An int has no contents.
  if (parameter.startsWith("max_")) return [...refused, E.TYPE];
  if (!/^MPI_Type_/.test(name)) return refused;
  // Arrays of that many elements are not in memory.
  if (/^MPI_Type_(\w*indexed\w*|create_struct)_c$/.test(name) && parameter === "count") return refused;
  if (/^(stride|lb|extent|array_of_displacements)$/.test(parameter)) {
    return isExact ? [0] : [E.COUNT, E.VALUE_TOO_LARGE];
  }
  if (/^array_of_(subsizes|starts)$/.test(parameter)) return [E.ARG, E.COUNT];
  return count >= 0n && isExact ? [0] : refused;
}

const setting = new Setting();
const built = large.filter(({ name }) => setting.c.program.calls[name] !== undefined);

describe("M6 counts of 64 bits", () => {
  for (const [what, type] of setting.types) {
    it(`every _c function takes or refuses any count of a datatype of ${what}`, () => {
      let [tries, refusals] = [0, 0];
      for (const prototype of built) {
        for (const [index, parameter] of prototype.parameters.entries()) {
          if (!isRead(parameter)) continue;
          for (const count of counts) {
            const args = setting.argumentsOf(prototype, index, count, type);
            const { code, said } = setting.outcome(prototype, args);
            const call = `${prototype.name} with ${parameterName(parameter)} ${count}: ${code} ${said}`;
            if (type === INT) ok(wanted(prototype.name, parameterName(parameter), count).includes(code), call);
            if (code !== 0) ok(/^Cannot /.test(said) && said.includes(prototype.name), call);
            if (code !== 0) refusals++;
            tries++;
          }
        }
      }
      ok(tries > 1200 && refusals > 800 && refusals < tries, `${refusals} of ${tries} were refused`);
    });
  }

  it("functions that are not built say so, whatever the counts are", () => {
    const missing = large.filter((prototype) => !built.includes(prototype));
    for (const prototype of missing) {
      const { code, said } = setting.outcome(prototype, setting.argumentsOf(prototype, 1, 2n ** 63n - 1n, INT));
      equal(code, E.UNSUPPORTED_OPERATION, prototype.name);
      ok(said.startsWith(`Cannot call ${prototype.name}: Banyan does not have it yet`), said);
    }
    // One-sided communication, sessions, and buffers of communicators.
    const chapters = /^MPI_(Win_|R?(put|get|accumulate|get_accumulate)_c|(Comm|Session)_\w+_buffer|Register_datarep)/i;
    deepEqual(
      missing.filter(({ name }) => !chapters.test(name)).map(({ name }) => name),
      [],
    );
  });

  it("the _x functions are the _c ones", () => {
    const source = readFileSync("src/cc/support/removed.c", "utf8");
    const names = declaredFunctions().flatMap(({ name }) => (name.endsWith("_x") ? [name] : []));
    equal(names.length, 5);
    for (const name of names) {
      ok(source.includes(`return P${name.replace(/_x$/, "_c")}(`), name);
    }
  });
});

describe("M6 large counts come back exactly", () => {
  const { c } = setting;
  const longs = (name: string, results: number, ...args: (number | bigint)[]): bigint[] => {
    const out = c.alloc(8 * results);
    c.call(name, ...args, ...Array.from({ length: results }, (_, i) => out + 8 * i));
    return Array.from({ length: results }, (_, i) => c.program.longs[(out >> 3) + i]!);
  };

  it("of datatypes: size, extent, envelope and contents; the plain forms say MPI_UNDEFINED", () => {
    const type = c.get("MPI_Type_vector_c", 2n ** 33n + 1n, 3n, 5n, INT);
    const size = 12n * (2n ** 33n + 1n);
    const extent = 4n * (2n ** 33n * 5n + 3n);
    deepEqual(longs("MPI_Type_size_c", 1, type), [size]);
    deepEqual(longs("MPI_Type_get_extent_c", 2, type), [0n, extent]);
    deepEqual(longs("MPI_Type_get_true_extent_c", 2, type), [0n, extent]);
    equal(c.get("MPI_Type_size", type), UNDEFINED);
    const numbers = c.alloc(32);
    c.call("MPI_Type_get_envelope_c", type, numbers, numbers + 8, numbers + 16, numbers + 24, c.alloc(4));
    deepEqual(
      [0, 1, 2, 3].map((i) => c.long(numbers + 8 * i)),
      [0, 0, 3, 1],
    );
    const [contents, types] = [c.alloc(24), c.alloc(4)];
    c.call("MPI_Type_get_contents_c", type, 0n, 0n, 3n, 1n, 64, 64, contents, types);
    deepEqual(
      [0, 1, 2].map((i) => c.program.longs[(contents >> 3) + i]),
      [2n ** 33n + 1n, 3n, 5n],
    );
  });

  it("of packed items, beyond what a double holds", () => {
    const three = c.get("MPI_Type_contiguous", 3, BYTE);
    c.call("MPI_Type_commit", c.ints(three));
    const count = 2n ** 60n + 1n;
    deepEqual(longs("MPI_Pack_size_c", 1, count, three, WORLD), [3n * count]);
    deepEqual(longs("MPI_Pack_external_size_c", 1, c.text("external32"), count, three), [3n * count]);
    equal(c.get("MPI_Pack_size", 2 ** 30, three, WORLD), UNDEFINED);
  });

  it("of elements in a status", () => {
    const status = c.alloc(32);
    const pair = c.get("MPI_Type_create_struct_c", 2n, c.longs(1, 1), c.longs(0, 4), c.ints(INT, SHORT));
    const count = 2n ** 61n - 1n;
    c.call("MPI_Status_set_elements_c", status, pair, count);
    deepEqual(longs("MPI_Get_elements_c", 1, status, pair), [count]);
    // An odd number of elements is no whole number of pairs.
    deepEqual(longs("MPI_Get_count_c", 1, status, pair), [BigInt(UNDEFINED)]);
    c.call("MPI_Status_set_elements_c", status, pair, count + 1n);
    deepEqual(longs("MPI_Get_count_c", 1, status, pair), [(count + 1n) / 2n]);
    equal(c.get("MPI_Get_count", status, pair), UNDEFINED);
  });

  it("of a type with more elements than a loop could visit", () => {
    const [status, row] = [c.alloc(32), c.get("MPI_Type_vector_c", 2n ** 40n, 1n, 2n, INT)];
    const box = c.get("MPI_Type_create_hvector_c", 2n ** 8n, 1n, 2n ** 44n, row);
    c.call("MPI_Status_set_elements_c", status, box, 2n ** 48n + 5n);
    deepEqual(longs("MPI_Get_elements_c", 1, status, box), [2n ** 48n + 5n]);
  });
});
