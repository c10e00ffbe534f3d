import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../../base/mpi-error.ts";
import { contentsOf } from "./datatype.ts";
import { Combiner } from "./datatype-combiner.ts";
import {
  contiguous,
  dup,
  hindexed,
  hindexedBlock,
  hvector,
  indexed,
  indexedBlock,
  resized,
  struct,
  vector,
} from "./datatype-constructors.ts";
import { LB, predefinedTypes, UB } from "./datatype-predefined.ts";
import { signatureText } from "./signature.ts";

const { CHAR, DOUBLE, INT } = predefinedTypes;

test("M5 §3.2.2 predefined types have the sizes of wasm32 and the numbers of the ABI", () => {
  const sizes = {
    LONG: 4,
    AINT: 4,
    COUNT: 8,
    OFFSET: 8,
    LONG_DOUBLE: 16,
    WCHAR: 4,
    C_BOOL: 1,
    COMPLEX32: 32,
    SHORT_INT: 6,
    DOUBLE_INT: 12,
  } as const;
  for (const [name, size] of Object.entries(sizes))
    assert.equal(predefinedTypes[name as keyof typeof sizes].size, size, name);
  assert.deepEqual(
    [predefinedTypes.SHORT_INT, predefinedTypes.DOUBLE_INT, predefinedTypes.LONG_DOUBLE_INT].map((type) => type.extent),
    [8, 16, 32],
  );
  const all = Object.values(predefinedTypes);
  assert.equal(new Set(all.map(({ handle }) => handle)).size, all.length);
  for (const type of all) {
    assert.ok(type.isPredefined && type.isCommitted && type.name.startsWith("MPI_"));
    // The ABI writes log2(size) into the numbers of types whose size is fixed.
    const isFixed = (type.handle >= 0x240 && type.handle < 0x280) || type.handle >= 0x2c0;
    if (isFixed) assert.equal(type.size, 1 << ((type.handle >> 3) & 7), type.name);
  }
});

test("M5 §5.1.2 the standard's example: {(double, 0), (char, 8)} has extent 16", () => {
  const type = struct({ types: [DOUBLE, CHAR], blocklengths: [1, 1], displacements: [0, 8] });
  assert.deepEqual([type.size, type.extent, type.trueExtent], [9, 16, 9]);
  const three = contiguous(3, type);
  assert.deepEqual([three.size, three.extent, three.trueExtent], [27, 48, 41]);
  assert.equal(signatureText(three.signature), "(DOUBLE CHAR)×3");
  const strided = vector(type, { count: 2, blocklength: 3, stride: 4 });
  assert.deepEqual([strided.size, strided.extent], [54, 112]);
});

test("M5 §5.1.7 markers stick: resized inside struct, and the old MPI_LB and MPI_UB", () => {
  const wide = resized(INT, { lb: -4, extent: 20 });
  assert.deepEqual([wide.lb, wide.ub, wide.extent, wide.trueLb, wide.trueExtent], [-4, 16, 20, 0, 4]);
  const mixed = struct({ types: [wide, DOUBLE], blocklengths: [1, 1], displacements: [0, 96] });
  assert.deepEqual([mixed.lb, mixed.ub], [-4, 16]);
  const old = struct({ types: [LB, INT, UB], blocklengths: [1, 1, 1], displacements: [-8, 0, 24] });
  assert.deepEqual([old.lb, old.ub, old.size], [-8, 24, 4]);
  assert.equal(contiguous(2, old).ub, 56);
});

test("M5 §5.1.13 envelopes hold the arguments of the call in the standard's order", () => {
  const list = { blocklengths: [1, 2], displacements: [3, 6] };
  const block = { blocklength: 2, displacements: [3, 6] };
  const strided = { count: 2, blocklength: 3, stride: 4 };
  const cases = [
    [dup(INT), Combiner.DUP, [], [], [INT]],
    [contiguous(5, INT), Combiner.CONTIGUOUS, [5], [], [INT]],
    [vector(INT, strided), Combiner.VECTOR, [2, 3, 4], [], [INT]],
    [hvector(INT, strided), Combiner.HVECTOR, [2, 3], [4], [INT]],
    [indexed(INT, list), Combiner.INDEXED, [2, 1, 2, 3, 6], [], [INT]],
    [hindexed(INT, list), Combiner.HINDEXED, [2, 1, 2], [3, 6], [INT]],
    [indexedBlock(INT, block), Combiner.INDEXED_BLOCK, [2, 2, 3, 6], [], [INT]],
    [hindexedBlock(INT, block), Combiner.HINDEXED_BLOCK, [2, 2], [3, 6], [INT]],
    [struct({ ...list, types: [INT, CHAR] }), Combiner.STRUCT, [2, 1, 2], [3, 6], [INT, CHAR]],
    [resized(INT, { lb: 1, extent: 2 }), Combiner.RESIZED, [], [1, 2], [INT]],
  ] as const;
  for (const [type, combiner, integers, addresses, datatypes] of cases) {
    assert.deepEqual(contentsOf(type), { combiner, integers, addresses, datatypes });
    assert.ok(!type.isPredefined && type.handle === 0);
  }
  assert.throws(() => contentsOf(INT), {
    code: ErrorClass.TYPE,
    message: "Cannot get the contents of MPI_INT: it is predefined, only made types have contents",
  });
});

test("M5 §5.1.9 commit; a duplicate is committed when its original is", () => {
  const type = contiguous(2, INT);
  assert.ok(!type.isCommitted && !dup(type).isCommitted);
  assert.ok(type.commit().isCommitted && dup(type).isCommitted && dup(INT).isCommitted);
});

test("M5 §5.1.2 wrong arguments are named", () => {
  assert.throws(() => contiguous(-1, INT), {
    code: ErrorClass.COUNT,
    message: "Cannot make the datatype: its count is -1 and must be a whole number, 0 or more",
  });
  assert.throws(() => vector(INT, { count: 1, blocklength: -2, stride: 1 }), { code: ErrorClass.ARG });
  assert.throws(() => indexed(INT, { blocklengths: [1, -1], displacements: [0, 1] }), { code: ErrorClass.ARG });
  assert.throws(() => indexed(INT, { blocklengths: [1], displacements: [0, 1] }), { code: ErrorClass.ARG });
  assert.throws(() => struct({ types: [INT], blocklengths: [], displacements: [] }), { code: ErrorClass.ARG });
  assert.throws(() => contiguous(2 ** 52, DOUBLE), { code: ErrorClass.VALUE_TOO_LARGE });
});
