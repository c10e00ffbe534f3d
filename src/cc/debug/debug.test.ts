import assert from "node:assert/strict";
import { test } from "node:test";
import { tracedInstructions } from "./instructions.ts";
import { readLineTable } from "./line-table.ts";
import { partsOf, withoutSections } from "./module-parts.ts";

test("M10: calls and what may trap are found in a function's bytes, dead code too", () => {
  const body = [
    ...[0x00, 0x41, 0x00, 0x28, 0x02, 0x08, 0x1a], // i32.load offset=8
    ...[0x02, 0x40, 0x10, 0x83, 0x01, 0x00], // block: call 131, unreachable,
    ...[0x41, 0x01, 0x41, 0x01, 0x6d, 0x1a, 0x0b], // i32.div_s, which no way leads to
    ...[0xfd, 0x0c, ...new Array(16).fill(0x6d), 0x1a], // v128.const, whose bytes are no divisions
    ...[0x11, 0x00, 0x00, 0x0b], // call_indirect
  ];
  const found = tracedInstructions(Uint8Array.from(body), [0, body.length]);
  assert.deepEqual(
    found?.map(({ kind, at, isDead }) => [kind, at, isDead]),
    [
      ["l", 3, false],
      ["c", 9, false],
      ["u", 12, false],
      ["d", 17, true],
      ["i", 39, false],
    ],
  );
  assert.equal(tracedInstructions(Uint8Array.of(0x00, 0xff, 0x0b), [0, 3]), undefined, "an unknown instruction");
});

const text = (name: string): number[] => [...Buffer.from(`${name}\0`)];

/** A line program of version 4: three rows of a.c, and one of code that the linker has left out. */
function debugLine(): Uint8Array {
  const header = [
    ...[1, 1, 1, 0xfb, 14, 13],
    ...[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1],
    ...[...text("src"), 0],
    ...[...text("a.c"), 1, 0, 0, 0],
  ];
  const sequence = (address: number): number[] => [
    ...[0, 5, 2, address, 0, 0, 0], // set address
    ...[3, 9, 5, 7, 1], // line 10, column 7
    ...[2, 4, 3, 0x7f, 1], // four bytes on, line 9
    ...[13 + 2 * 14 + 5 + 2], // two bytes on, line 11
    ...[2, 3, 0, 1, 1], // three bytes on: the end
  ];
  const program = [...sequence(100), ...sequence(0)];
  const rest = [4, 0, header.length, 0, 0, 0, ...header, ...program];
  return Uint8Array.from([rest.length, 0, 0, 0, ...rest]);
}

test("M10: DWARF's line programs are read, those of code that is gone left out", () => {
  const lines = readLineTable(new Map([[".debug_line", debugLine()]]));
  const at = (address: number): string | null => {
    const place = lines.at(address);
    return place && `${place.file}:${place.line}:${place.column}`;
  };
  assert.deepEqual([99, 100, 103, 104, 106, 108, 109].map(at), [
    null,
    "src/a.c:10:7",
    "src/a.c:10:7",
    "src/a.c:9:7",
    "src/a.c:11:7",
    "src/a.c:11:7",
    null,
  ]);
  assert.equal(lines.at(1), null);
});

test("M10: sections of a module are found, and left out", () => {
  const magic = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const debug = [0, 4, 2, 0x2e, 0x64, 9];
  const code = [10, 4, 1, 2, 0, 0x0b];
  const module = Uint8Array.from([...magic, ...code, ...debug]);
  const parts = partsOf(module);
  assert.deepEqual([parts.codeFrom, parts.bodies], [10, [[12, 14]]]);
  assert.deepEqual([...parts.custom], [[".d", Uint8Array.of(9)]]);
  assert.deepEqual([...withoutSections(module, /^\.d/)], [...magic, ...code]);
});
