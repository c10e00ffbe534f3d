import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import {
  DISTRIBUTE_BLOCK,
  DISTRIBUTE_CYCLIC,
  DISTRIBUTE_DFLT_DARG,
  ORDER_C,
  ORDER_FORTRAN,
  UNDEFINED,
} from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { darray, subarray } from "../../core/comm/datatype/datatype-arrays.ts";
import * as make from "../../core/comm/datatype/datatype-constructors.ts";
import { TYPECLASS_REAL } from "../../core/comm/datatype/datatype-match.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { signatureText } from "../../core/comm/datatype/signature.ts";
import { DATATYPE_NULL } from "../program.ts";
import { importNames, type TestProgram, testProgram } from "../testing/program.ts";
import { datatypeContentsCalls } from "./datatype-contents.ts";
import { datatypeCalls } from "./datatypes.ts";
import { fortranTypeCalls } from "./fortran-types.ts";

const { CHAR, DOUBLE, INT, SHORT } = predefinedTypes;
const c = testProgram();

const coreOf = (handle: number): Datatype => c.program.types.get(handle).core;

/** Size, bounds and true bounds by both forms of the functions, which must agree. */
function lengthsOf(handle: number): number[] {
  const at = c.alloc(40);
  c.call("MPI_Type_size", handle, at);
  c.call("MPI_Type_get_extent", handle, at + 4, at + 8);
  c.call("MPI_Type_get_true_extent", handle, at + 12, at + 16);
  const small = c.list(at, 5);
  c.call("MPI_Type_size_c", handle, at);
  c.call("MPI_Type_get_extent_c", handle, at + 8, at + 16);
  c.call("MPI_Type_get_true_extent_c", handle, at + 24, at + 32);
  deepEqual(
    [0, 8, 16, 24, 32].map((offset) => c.long(at + offset)),
    small,
  );
  return small;
}

/** The handle stands for what core would have made of the same arguments. */
function same(handle: number, core: Datatype): void {
  deepEqual(lengthsOf(handle), [core.size, core.lb, core.extent, core.trueLb, core.trueExtent]);
  const made = coreOf(handle);
  deepEqual(made.layout, core.layout);
  equal(signatureText(made.signature), signatureText(core.signature));
}

interface Decoded {
  readonly combiner: number;
  readonly integers: number[];
  readonly addresses: number[];
  readonly counts: number[];
  readonly types: number[];
}

function decode(handle: number): Decoded {
  const at = c.alloc(36);
  c.call("MPI_Type_get_envelope", handle, at, at + 4, at + 8, at + 12);
  const [integers, addresses, types, combiner] = c.list(at, 4) as [number, number, number, number];
  const lists = [c.alloc(4 * integers), c.alloc(4 * addresses), c.alloc(4 * types)] as const;
  c.call("MPI_Type_get_contents", handle, integers, addresses, types, ...lists);
  return {
    combiner,
    integers: c.list(lists[0], integers),
    addresses: c.list(lists[1], addresses),
    counts: [],
    types: c.list(lists[2], types),
  };
}

function decodeLarge(handle: number): Decoded {
  const at = c.alloc(40);
  c.call("MPI_Type_get_envelope_c", handle, at, at + 8, at + 16, at + 24, at + 32);
  const [integers, addresses, counts, types] = [0, 8, 16, 24].map((offset) => c.long(at + offset)) as [
    number,
    number,
    number,
    number,
  ];
  const lists = [c.alloc(4 * integers), c.alloc(4 * addresses), c.alloc(8 * counts), c.alloc(4 * types)] as const;
  const room = [integers, addresses, counts, types].map(BigInt);
  c.call("MPI_Type_get_contents_c", handle, ...room, ...lists);
  return {
    combiner: c.int(at + 32),
    integers: c.list(lists[0], integers),
    addresses: c.list(lists[1], addresses),
    counts: Array.from({ length: counts }, (_, i) => c.long(lists[2] + 8 * i)),
    types: c.list(lists[3], types),
  };
}

const ended = (code: number, message: RegExp) => ({ name: "Error", code, message });

describe("constructors", () => {
  const shape = { blocklengths: [2, 1, 3], displacements: [0, 4, 6] };
  const strided = { count: 3, blocklength: 2, stride: 5 };
  const even = { blocklength: 2, displacements: [6, 0, 3] };
  const lengths = c.ints(...shape.blocklengths);
  const displacements = c.ints(...shape.displacements);
  const evenDisplacements = c.ints(...even.displacements);
  const largeLengths = c.longs(...shape.blocklengths);
  const largeDisplacements = c.longs(...shape.displacements);
  const largeEven = c.longs(...even.displacements);

  /** Name without MPI_Type_, arguments of either form, core's own type, its contents. */
  const cases: readonly (readonly [string, readonly number[], readonly (number | bigint)[], Datatype])[] = [
    ["contiguous", [7, INT.handle], [7n, INT.handle], make.contiguous(7, INT)],
    ["vector", [3, 2, 5, INT.handle], [3n, 2n, 5n, INT.handle], make.vector(INT, strided)],
    ["create_hvector", [3, 2, 5, CHAR.handle], [3n, 2n, 5n, CHAR.handle], make.hvector(CHAR, strided)],
    [
      "indexed",
      [3, lengths, displacements, DOUBLE.handle],
      [3n, largeLengths, largeDisplacements, DOUBLE.handle],
      make.indexed(DOUBLE, shape),
    ],
    [
      "create_hindexed",
      [3, lengths, displacements, SHORT.handle],
      [3n, largeLengths, largeDisplacements, SHORT.handle],
      make.hindexed(SHORT, shape),
    ],
    [
      "create_indexed_block",
      [3, 2, evenDisplacements, DOUBLE.handle],
      [3n, 2n, largeEven, DOUBLE.handle],
      make.indexedBlock(DOUBLE, even),
    ],
    [
      "create_hindexed_block",
      [3, 2, evenDisplacements, CHAR.handle],
      [3n, 2n, largeEven, CHAR.handle],
      make.hindexedBlock(CHAR, even),
    ],
    ["create_resized", [INT.handle, -4, 16], [INT.handle, -4n, 16n], make.resized(INT, { lb: -4, extent: 16 })],
  ];

  for (const [name, args, largeArgs, core] of cases) {
    it(`MPI_Type_${name} and its _c form`, () => {
      const { combiner, integers, addresses, datatypes } = core.envelope;
      const types = datatypes.map((type) => type.handle);
      const handle = c.get(`MPI_Type_${name}`, ...args);
      same(handle, core);
      const decoded = { combiner, integers: [...integers], addresses: [...addresses], counts: [], types };
      deepEqual(decode(handle), decoded);
      deepEqual(decodeLarge(handle), decoded);

      const large = c.get(`MPI_Type_${name}_c`, ...largeArgs);
      same(large, core);
      const counts = [...integers, ...addresses];
      deepEqual(decodeLarge(large), { combiner, integers: [], addresses: [], counts, types });
    });
  }

  it("MPI_Type_create_struct: types of any kind, and what it says of them", () => {
    const vector = c.get("MPI_Type_vector", 2, 1, 3, SHORT.handle);
    const core = make.struct({ blocklengths: [1, 2], displacements: [-8, 16], types: [DOUBLE, coreOf(vector)] });
    const types = c.ints(DOUBLE.handle, vector);
    const handle = c.get("MPI_Type_create_struct", 2, c.ints(1, 2), c.ints(-8, 16), types);
    same(handle, core);
    const { types: inside, ...rest } = decode(handle);
    deepEqual(rest, { combiner: 110, integers: [2, 1, 2], addresses: [-8, 16], counts: [] });
    equal(inside[0], DOUBLE.handle);
    // A new handle, of the program's to free: the old one may go.
    equal(inside[1] === vector, false);
    const at = c.ints(vector);
    c.call("MPI_Type_free", at);
    same(inside[1]!, make.vector(SHORT, { count: 2, blocklength: 1, stride: 3 }));

    const large = c.get(
      "MPI_Type_create_struct_c",
      2n,
      c.longs(1, 2),
      c.longs(-8, 16),
      c.ints(DOUBLE.handle, inside[1]!),
    );
    same(large, core);
    deepEqual(decodeLarge(large).counts, [2, 1, 2, -8, 16]);
  });

  it("MPI_LB and MPI_UB in a structure set its bounds", () => {
    const [lower, upper] = [0xf00, 0xf01];
    const args = [3, c.ints(1, 1, 1), c.ints(-4, 0, 20), c.ints(lower, INT.handle, upper)] as const;
    const handle = c.get("MPI_Type_create_struct", ...args);
    deepEqual(lengthsOf(handle), [4, -4, 24, 0, 4]);
    deepEqual(decode(handle).types, [lower, INT.handle, upper]);
  });

  it("MPI_Type_create_subarray in both orders", () => {
    const box = { sizes: [4, 6], subsizes: [2, 3], starts: [1, 2] };
    for (const order of [ORDER_C, ORDER_FORTRAN]) {
      const core = subarray(INT, { ...box, order });
      const lists = [c.ints(4, 6), c.ints(2, 3), c.ints(1, 2)];
      const handle = c.get("MPI_Type_create_subarray", 2, ...lists, order, INT.handle);
      same(handle, core);
      deepEqual(decode(handle).integers, [2, 4, 6, 2, 3, 1, 2, order]);
      const large = [c.longs(4, 6), c.longs(2, 3), c.longs(1, 2)];
      const largeHandle = c.get("MPI_Type_create_subarray_c", 2, ...large, order, INT.handle);
      same(largeHandle, core);
      const { integers, counts } = decodeLarge(largeHandle);
      deepEqual(
        [integers, counts],
        [
          [2, order],
          [4, 6, 2, 3, 1, 2],
        ],
      );
    }
    const wrong = () => c.get("MPI_Type_create_subarray", 1, c.ints(4), c.ints(3), c.ints(2), ORDER_C, INT.handle);
    throws(wrong, ended(ErrorClass.ARG, /dimension 0 takes 3 from 2 on and has 4/));
    const none = () => c.get("MPI_Type_create_subarray", -1, 0, 0, 0, ORDER_C, INT.handle);
    throws(none, ended(ErrorClass.ARG, /number of dimensions is -1/));
  });

  it("MPI_Type_create_darray in both orders", () => {
    const array = {
      size: 6,
      rank: 3,
      gsizes: [8, 9],
      distributions: [DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC],
      dargs: [DISTRIBUTE_DFLT_DARG, 2],
      psizes: [2, 3],
    };
    const rest = [c.ints(...array.distributions), c.ints(...array.dargs), c.ints(...array.psizes)];
    for (const order of [ORDER_C, ORDER_FORTRAN]) {
      const core = darray(INT, { ...array, order });
      const handle = c.get("MPI_Type_create_darray", 6, 3, 2, c.ints(8, 9), ...rest, order, INT.handle);
      same(handle, core);
      deepEqual(decode(handle).integers, [...core.envelope.integers]);
      const large = c.get("MPI_Type_create_darray_c", 6, 3, 2, c.longs(8, 9), ...rest, order, INT.handle);
      same(large, core);
      const { integers, counts } = decodeLarge(large);
      deepEqual(counts, [8, 9]);
      deepEqual(integers, [6, 3, 2, ...array.distributions, ...array.dargs, ...array.psizes, order]);
    }
  });

  it("MPI_Type_dup: as committed as the type it is of", () => {
    const vector = c.get("MPI_Type_vector", 2, 1, 3, INT.handle);
    const copy = c.get("MPI_Type_dup", vector);
    same(copy, coreOf(vector));
    equal(coreOf(copy).isCommitted, false);
    c.call("MPI_Type_commit", c.ints(vector));
    equal(coreOf(c.get("MPI_Type_dup", vector)).isCommitted, true);
    equal(decode(copy).combiner, 102);
  });

  it("MPI_Type_create_f90_…: the smallest that will do, the same one again, not to be freed", () => {
    const real = c.get("MPI_Type_create_f90_real", 10, UNDEFINED);
    equal(lengthsOf(real)[0], 8);
    equal(coreOf(real).isCommitted, true);
    equal(c.get("MPI_Type_create_f90_real", 10, UNDEFINED), real);
    equal(lengthsOf(c.get("MPI_Type_create_f90_real", UNDEFINED, 37))[0], 4);
    equal(lengthsOf(c.get("MPI_Type_create_f90_real", 15, 308))[0], 16);
    equal(lengthsOf(c.get("MPI_Type_create_f90_complex", 6, 30))[0], 8);
    equal(lengthsOf(c.get("MPI_Type_create_f90_integer", 10))[0], 8);
    deepEqual(decode(real), { combiner: 113, integers: [10, UNDEFINED], addresses: [], counts: [], types: [] });
    const pair = c.get("MPI_Type_contiguous", 2, real);
    deepEqual(decode(pair).types, [real]);
    throws(() => c.call("MPI_Type_free", c.ints(real)), ended(ErrorClass.TYPE, /predefined/));
    throws(() => c.get("MPI_Type_create_f90_integer", 39), ended(ErrorClass.ARG, /at most range 38/));
    throws(() => c.get("MPI_Type_create_f90_real", UNDEFINED, UNDEFINED), ended(ErrorClass.ARG, /must be given/));
  });
});

describe("large counts", () => {
  const many = 3 * 2 ** 30;

  it("sizes and extents that are no int are MPI_UNDEFINED in the plain forms", () => {
    const handle = c.get("MPI_Type_contiguous_c", BigInt(many), INT.handle);
    const at = c.alloc(24);
    c.call("MPI_Type_size", handle, at);
    equal(c.int(at), UNDEFINED);
    c.call("MPI_Type_get_extent", handle, at, at + 4);
    deepEqual(c.list(at, 2), [0, UNDEFINED]);
    c.call("MPI_Type_get_true_extent", handle, at, at + 4);
    deepEqual(c.list(at, 2), [0, UNDEFINED]);
    c.call("MPI_Type_size_c", handle, at);
    equal(c.long(at), 4 * many);
    c.call("MPI_Type_get_true_extent_c", handle, at, at + 8);
    equal(c.long(at + 8), 4 * many);
  });

  it("a type made with large counts is decoded by the _c form alone", () => {
    const handle = c.get("MPI_Type_contiguous_c", 7n, INT.handle);
    const wanted = ended(ErrorClass.TYPE, /call MPI_Type_get_envelope_c/);
    const at = c.alloc(16);
    throws(() => c.call("MPI_Type_get_envelope", handle, at, at, at, at), wanted);
    // Also inside of another type.
    const outer = c.get("MPI_Type_contiguous", 2, handle);
    deepEqual(decodeLarge(decode(outer).types[0]!).counts, [7]);
  });

  it("counts beyond 2^53, and arrays beyond memory, are refused", () => {
    throws(() => c.get("MPI_Type_contiguous_c", 2n ** 62n, INT.handle), ended(ErrorClass.COUNT, /at most 2\^53/));
    throws(() => c.get("MPI_Type_contiguous_c", 2n ** 52n, INT.handle), ended(ErrorClass.VALUE_TOO_LARGE, /2\^53/));
    const wide = () => c.get("MPI_Type_indexed_c", 2n ** 40n, c.longs(1), c.longs(1), INT.handle);
    throws(wide, ended(ErrorClass.ARG, /and the memory of the program/));
  });
});

describe("errors", () => {
  it("bad counts", () => {
    throws(() => c.get("MPI_Type_contiguous", -1, INT.handle), ended(ErrorClass.COUNT, /count is -1/));
    const wrong = () => c.get("MPI_Type_create_struct", -2, 0, 0, 0);
    throws(wrong, ended(ErrorClass.COUNT, /count is -2/));
    const blocks = () => c.get("MPI_Type_indexed", 1, c.ints(-3), c.ints(0), INT.handle);
    throws(blocks, ended(ErrorClass.ARG, /blocklength is -3/));
  });

  it("handles that are none, freed or of another kind", () => {
    throws(() => c.get("MPI_Type_size", DATATYPE_NULL), ended(ErrorClass.TYPE, /no datatype with that handle/));
    const handle = c.get("MPI_Type_contiguous", 2, INT.handle);
    const at = c.ints(handle);
    c.call("MPI_Type_free", at);
    equal(c.int(at), DATATYPE_NULL);
    throws(() => c.get("MPI_Type_size", handle), ended(ErrorClass.TYPE, /^Cannot use datatype/));
    throws(() => c.call("MPI_Type_free", at), ended(ErrorClass.TYPE, /0x200/));
    const op = c.get(
      "MPI_Op_create",
      c.function(() => undefined),
      1,
    );
    throws(() => c.get("MPI_Type_contiguous", 1, op), ended(ErrorClass.TYPE, /operation/));
    throws(() => c.call("MPI_Type_free", c.ints(INT.handle)), ended(ErrorClass.TYPE, /MPI_INT: it is predefined/));
  });

  it("types that are not committed", () => {
    const handle = c.get("MPI_Type_contiguous", 2, INT.handle);
    const send = () => c.call("MPI_Send", c.alloc(8), 1, handle, 0, 0, 0x102);
    throws(send, ended(ErrorClass.TYPE, /MPI_Type_commit/));
    c.call("MPI_Type_set_name", handle, c.text("pair"));
    throws(send, ended(ErrorClass.TYPE, /Cannot use pair/));
  });

  it("contents that do not fit, and types without contents", () => {
    const handle = c.get("MPI_Type_contiguous", 2, INT.handle);
    const none = () => c.call("MPI_Type_get_contents", handle, 0, 0, 1, 0, 0, c.alloc(4));
    throws(none, ended(ErrorClass.ARG, /has 1 integers and there is room for 0/));
    const named = () => c.call("MPI_Type_get_contents", INT.handle, 0, 0, 0, 0, 0, 0);
    throws(named, ended(ErrorClass.TYPE, /Cannot decode MPI_INT/));
    equal(c.get("MPI_Type_get_envelope", INT.handle, c.alloc(4), c.alloc(4), c.alloc(4)), 101);
  });
});

describe("attributes", () => {
  /** A type with an attribute whose functions answer these codes; what they were called with. */
  function withAttribute(copyCode: number, deleteCode: number) {
    const seen: number[][] = [];
    const copy = c.function((old, keyval, extra, value, out, flag) => {
      seen.push([old!, keyval!, extra!, value!]);
      c.program.putList(out!, [value! + 1]);
      c.program.putList(flag!, [1]);
      return copyCode;
    });
    const deletion = c.function((type, keyval, value, extra) => {
      seen.push([type!, keyval!, value!, extra!]);
      return deleteCode;
    });
    const keyval = c.program.keyvals.create("datatype", { copy, delete: deletion, extraState: 5 });
    const type = c.get("MPI_Type_contiguous", 2, INT.handle);
    c.program.types.get(type).attributes.put(keyval, 40);
    return { type, keyval, seen };
  }

  it("are copied with the type, and deleted with it", () => {
    const { type, keyval, seen } = withAttribute(0, 0);
    const copy = c.get("MPI_Type_dup", type);
    equal(c.program.types.get(copy).attributes.get(keyval)?.value, 41);
    c.call("MPI_Type_free", c.ints(copy));
    deepEqual(seen, [
      [type, keyval.number, 5, 40],
      [copy, keyval.number, 41, 5],
    ]);
    equal(c.program.types.find(copy), undefined);
  });

  it("that cannot be copied or deleted: no copy, no freeing", () => {
    const failing = withAttribute(ErrorClass.OTHER, ErrorClass.OTHER);
    const types = c.program.types.list().length;
    const copy = c.ints(failing.type);
    throws(() => c.call("MPI_Type_dup", failing.type, copy), ended(ErrorClass.OTHER, /copy function of an attribute/));
    equal(c.int(copy), 0x200, "MPI_DATATYPE_NULL");
    throws(() => c.call("MPI_Type_free", c.ints(failing.type)), ended(ErrorClass.OTHER, /delete function/));
    equal(c.program.types.list().length, types);
  });
});

describe("names and the like", () => {
  const nameOf = (program: TestProgram, handle: number): string => {
    const text = program.alloc(128);
    const length = program.get("MPI_Type_get_name", handle, text);
    equal(program.program.text(text).length, length);
    return program.program.text(text);
  };

  it("MPI_Type_get_name and MPI_Type_set_name", () => {
    equal(nameOf(c, INT.handle), "MPI_INT");
    // Of two names for one type it is the older.
    equal(nameOf(c, predefinedTypes.LONG_LONG.handle), "MPI_LONG_LONG_INT");
    equal(nameOf(c, predefinedTypes.C_FLOAT_COMPLEX.handle), "MPI_C_COMPLEX");
    const handle = c.get("MPI_Type_contiguous", 2, INT.handle);
    equal(nameOf(c, handle), "");
    c.call("MPI_Type_set_name", handle, c.text("pair of ints"));
    equal(nameOf(c, handle), "pair of ints");
    equal(nameOf(c, c.get("MPI_Type_dup", handle)), "");
    // Of a predefined type the name is the program's own.
    c.call("MPI_Type_set_name", INT.handle, c.text("mine"));
    equal(nameOf(c, INT.handle), "mine");
    equal(nameOf(testProgram(), INT.handle), "MPI_INT");
    c.call("MPI_Type_set_name", handle, c.text("x".repeat(300)));
    equal(nameOf(c, handle).length, 127);
  });

  it("MPI_Type_match_size and MPI_Type_get_value_index", () => {
    equal(c.get("MPI_Type_match_size", TYPECLASS_REAL, 8), predefinedTypes.REAL8.handle);
    equal(c.get("MPI_Type_get_value_index", DOUBLE.handle, INT.handle), predefinedTypes.DOUBLE_INT.handle);
    equal(c.get("MPI_Type_get_value_index", DOUBLE.handle, DOUBLE.handle), DATATYPE_NULL);
  });

  it("MPI_Get_address", () => equal(c.get("MPI_Get_address", 1234), 1234));

  it("are functions that C programs import, all of them", () => {
    const { program } = c;
    const own = { ...datatypeCalls(program), ...datatypeContentsCalls(program), ...fortranTypeCalls(program) };
    const isType = (name: string): boolean => name.startsWith("MPI_Type_") && !/_attr$|_keyval$/.test(name);
    deepEqual(Object.keys(own).sort(), [...importNames.filter(isType), "MPI_Get_address"].sort());
  });
});
