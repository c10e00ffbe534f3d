/** M5: texts that a program gives and asks for come back byte for byte, also those that are not UTF-8, also after a thaw. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { restoreProcess, saveProcess } from "./process-state.ts";
import { TestDisk } from "./testing/disk.ts";
import type { TestProgram } from "./testing/program.ts";
import { ERRORS_RETURN, INFO_NULL, INT, SELF, TestRanks, WORLD } from "./testing/ranks.ts";

/** Latin-1; a byte order mark; a surrogate as some encoders write it; a character that is cut off. */
const odd: readonly (readonly number[])[] = [
  [0x63, 0x61, 0x66, 0xe9],
  [0xef, 0xbb, 0xbf, 0x61],
  [0xed, 0xb3, 0xa9],
  [0x61, 0xf0, 0x9f, 0x8c],
  [0xff],
];
const errorStringBytes = 512;

function putBytes(c: TestProgram, bytes: readonly number[]): number {
  const at = c.alloc(bytes.length + 1);
  c.program.bytes.set([...bytes, 0], at);
  return at;
}

/** The bytes of a text that a function writes to an address. */
function bytesFrom(c: TestProgram, act: (at: number) => void): number[] {
  const at = c.alloc(errorStringBytes);
  c.program.bytes.fill(0x21, at, at + errorStringBytes);
  act(at);
  return [...c.program.bytes.subarray(at, c.program.bytes.indexOf(0, at))];
}

function nameOf(c: TestProgram, get: string, handle: number): number[] {
  const length = c.alloc(4);
  const name = bytesFrom(c, (at) => assert.equal(c.call(get, handle, at, length), 0));
  assert.equal(c.int(length), name.length);
  return name;
}

const hintOf = (c: TestProgram, info: number, key: number): number[] =>
  bytesFrom(c, (at) => c.call("MPI_Info_get_string", info, key, c.ints(errorStringBytes), at, c.alloc(4)));

describe("M5 texts that are not UTF-8", () => {
  for (const bytes of odd) {
    test(`${bytes.map((byte) => byte.toString(16)).join(" ")} is a name, a hint, an error string`, () => {
      const [c] = new TestRanks(1).programs as [TestProgram];
      const text = putBytes(c, bytes);
      c.call("MPI_Comm_set_name", WORLD, text);
      const type = c.get("MPI_Type_contiguous", 2, INT);
      c.call("MPI_Type_set_name", type, text);
      const info = c.get("MPI_Info_create");
      c.call("MPI_Info_set", info, text, text);
      const code = c.get("MPI_Add_error_class");
      c.call("MPI_Add_error_string", code, text);
      const check = (of: TestProgram): void => {
        assert.deepEqual(nameOf(of, "MPI_Comm_get_name", WORLD), bytes);
        assert.deepEqual(nameOf(of, "MPI_Type_get_name", type), bytes);
        assert.deepEqual(nameOf(of, "MPI_Error_string", code), bytes);
        assert.deepEqual(hintOf(of, info, putBytes(of, bytes)), bytes);
        const key = bytesFrom(of, (at) => of.call("MPI_Info_get_nthkey", info, 0, at));
        assert.deepEqual(key, bytes);
      };
      check(c);
      const [other] = new TestRanks(1).programs as [TestProgram];
      const state = saveProcess(c.program);
      other.memory.arena.copyFrom(c.memory.arena);
      restoreProcess(other.program, state);
      check(other);
    });
  }

  test("a hint is another one than a hint whose key differs in an odd byte", () => {
    const [c] = new TestRanks(1).programs as [TestProgram];
    const info = c.get("MPI_Info_create");
    for (const byte of [0xe8, 0xe9]) c.call("MPI_Info_set", info, putBytes(c, [byte]), putBytes(c, [byte]));
    assert.equal(c.get("MPI_Info_get_nkeys", info), 2);
    assert.deepEqual(hintOf(c, info, putBytes(c, [0xe8])), [0xe8]);
  });

  test("M9 is no name of a file: two would be one", () => {
    const disk = new TestDisk();
    const [c] = new TestRanks(1).programs as [TestProgram];
    disk.giveTo(c);
    const FILE_NULL = 0x118;
    c.call("MPI_File_set_errhandler", FILE_NULL, ERRORS_RETURN);
    c.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN);
    const createAndWrite = 2 | 32;
    const name = putBytes(c, [0x61, 0xe9]);
    assert.equal(c.call("MPI_File_open", SELF, name, createAndWrite, INFO_NULL, c.alloc(4)), ErrorClass.BAD_FILE);
    assert.equal(c.call("MPI_File_delete", name, INFO_NULL), ErrorClass.BAD_FILE);
    assert.deepEqual(readdirSync(disk.path), []);
  });
});
