/**
 * The predefined datatypes of MPI 5.0 (§3.2.2, §6.9.4) with their numbers in the standard ABI and the sizes of C on wasm32:
 * LONG and AINT have 4 bytes, COUNT and OFFSET 8, LONG_DOUBLE 16.
 *
 * LB and UB, which MPI-3 removed and old programs still use in MPI_Type_struct, are here too; the ABI has no numbers for them.
 */
import { Datatype, namedEnvelope } from "./datatype.ts";
import { type Element, type ElementFormat, type ElementGroup, element } from "./element.ts";
import { run } from "./layout.ts";
import { emptyShape, joinShapes, shiftShape, type TypeShape } from "./shape.ts";
import { signatureOf } from "./signature.ts";

function shapeOf(item: Element): TypeShape {
  return { ...emptyShape, layout: run(0, item.bytes), signature: signatureOf(item), alignment: item.alignment };
}

function basic(
  name: string,
  handle: number,
  group: ElementGroup,
  format: ElementFormat,
  externalUnitBytes?: number,
): Datatype {
  const item = element(name, group, format, externalUnitBytes);
  return new Datatype(shapeOf(item), namedEnvelope, { name: `MPI_${name}`, handle, elements: [item] });
}

/** A C structure of the two elements: the second at its own alignment, the whole padded. */
function pair(name: string, handle: number, value: Datatype, index: Datatype): Datatype {
  const [left, right] = [value.elements[0]!, index.elements[0]!];
  const at = Math.ceil(left.bytes / right.alignment) * right.alignment;
  const shape = joinShapes([shapeOf(left), shiftShape(shapeOf(right), at)]);
  return new Datatype(shape, namedEnvelope, { name: `MPI_${name}`, handle, elements: [left, right] });
}

const basicTypes = {
  AINT: basic("AINT", 0x201, "address", "int32", 8),
  COUNT: basic("COUNT", 0x202, "address", "int64"),
  OFFSET: basic("OFFSET", 0x203, "address", "int64"),
  PACKED: basic("PACKED", 0x207, "text", "opaque"),
  SHORT: basic("SHORT", 0x208, "integer", "int16"),
  INT: basic("INT", 0x209, "integer", "int32"),
  LONG: basic("LONG", 0x20a, "integer", "int32"),
  LONG_LONG: basic("LONG_LONG_INT", 0x20b, "integer", "int64"),
  UNSIGNED_SHORT: basic("UNSIGNED_SHORT", 0x20c, "integer", "uint16"),
  UNSIGNED: basic("UNSIGNED", 0x20d, "integer", "uint32"),
  UNSIGNED_LONG: basic("UNSIGNED_LONG", 0x20e, "integer", "uint32"),
  UNSIGNED_LONG_LONG: basic("UNSIGNED_LONG_LONG", 0x20f, "integer", "uint64"),
  FLOAT: basic("FLOAT", 0x210, "floating", "float32"),
  C_FLOAT_COMPLEX: basic("C_COMPLEX", 0x212, "complex", "complex64"),
  CXX_FLOAT_COMPLEX: basic("CXX_FLOAT_COMPLEX", 0x213, "complex", "complex64"),
  DOUBLE: basic("DOUBLE", 0x214, "floating", "float64"),
  C_DOUBLE_COMPLEX: basic("C_DOUBLE_COMPLEX", 0x216, "complex", "complex128"),
  CXX_DOUBLE_COMPLEX: basic("CXX_DOUBLE_COMPLEX", 0x217, "complex", "complex128"),
  LOGICAL: basic("LOGICAL", 0x218, "logical", "int32"),
  INTEGER: basic("INTEGER", 0x219, "fortran integer", "int32"),
  REAL: basic("REAL", 0x21a, "floating", "float32"),
  COMPLEX: basic("COMPLEX", 0x21b, "complex", "complex64"),
  DOUBLE_PRECISION: basic("DOUBLE_PRECISION", 0x21c, "floating", "float64"),
  DOUBLE_COMPLEX: basic("DOUBLE_COMPLEX", 0x21d, "complex", "complex128"),
  CHARACTER: basic("CHARACTER", 0x21e, "text", "opaque"),
  LONG_DOUBLE: basic("LONG_DOUBLE", 0x220, "floating", "float128"),
  C_LONG_DOUBLE_COMPLEX: basic("C_LONG_DOUBLE_COMPLEX", 0x224, "complex", "complex256"),
  CXX_LONG_DOUBLE_COMPLEX: basic("CXX_LONG_DOUBLE_COMPLEX", 0x225, "complex", "complex256"),
  C_BOOL: basic("C_BOOL", 0x238, "logical", "uint8"),
  CXX_BOOL: basic("CXX_BOOL", 0x239, "logical", "uint8"),
  WCHAR: basic("WCHAR", 0x23c, "text", "uint32", 2),
  INT8_T: basic("INT8_T", 0x240, "integer", "int8"),
  UINT8_T: basic("UINT8_T", 0x241, "integer", "uint8"),
  /** The standard keeps CHAR out of reductions; every implementation accepts it as a signed integer, and so does Banyan. */
  CHAR: basic("CHAR", 0x243, "integer", "int8"),
  SIGNED_CHAR: basic("SIGNED_CHAR", 0x244, "integer", "int8"),
  UNSIGNED_CHAR: basic("UNSIGNED_CHAR", 0x245, "integer", "uint8"),
  BYTE: basic("BYTE", 0x247, "byte", "uint8"),
  INT16_T: basic("INT16_T", 0x248, "integer", "int16"),
  UINT16_T: basic("UINT16_T", 0x249, "integer", "uint16"),
  INT32_T: basic("INT32_T", 0x250, "integer", "int32"),
  UINT32_T: basic("UINT32_T", 0x251, "integer", "uint32"),
  INT64_T: basic("INT64_T", 0x258, "integer", "int64"),
  UINT64_T: basic("UINT64_T", 0x259, "integer", "uint64"),
  LOGICAL1: basic("LOGICAL1", 0x2c0, "logical", "int8"),
  INTEGER1: basic("INTEGER1", 0x2c1, "fortran integer", "int8"),
  LOGICAL2: basic("LOGICAL2", 0x2c8, "logical", "int16"),
  INTEGER2: basic("INTEGER2", 0x2c9, "fortran integer", "int16"),
  REAL2: basic("REAL2", 0x2ca, "floating", "float16"),
  LOGICAL4: basic("LOGICAL4", 0x2d0, "logical", "int32"),
  INTEGER4: basic("INTEGER4", 0x2d1, "fortran integer", "int32"),
  REAL4: basic("REAL4", 0x2d2, "floating", "float32"),
  COMPLEX4: basic("COMPLEX4", 0x2d3, "complex", "complex32"),
  LOGICAL8: basic("LOGICAL8", 0x2d8, "logical", "int64"),
  INTEGER8: basic("INTEGER8", 0x2d9, "fortran integer", "int64"),
  REAL8: basic("REAL8", 0x2da, "floating", "float64"),
  COMPLEX8: basic("COMPLEX8", 0x2db, "complex", "complex64"),
  LOGICAL16: basic("LOGICAL16", 0x2e0, "logical", "int128"),
  INTEGER16: basic("INTEGER16", 0x2e1, "fortran integer", "int128"),
  REAL16: basic("REAL16", 0x2e2, "floating", "float128"),
  COMPLEX16: basic("COMPLEX16", 0x2e3, "complex", "complex128"),
  COMPLEX32: basic("COMPLEX32", 0x2eb, "complex", "complex256"),
} as const;

const { DOUBLE, DOUBLE_PRECISION, FLOAT, INT, INTEGER, LONG, LONG_DOUBLE, REAL, SHORT } = basicTypes;

export const predefinedTypes = {
  ...basicTypes,
  FLOAT_INT: pair("FLOAT_INT", 0x228, FLOAT, INT),
  DOUBLE_INT: pair("DOUBLE_INT", 0x229, DOUBLE, INT),
  LONG_INT: pair("LONG_INT", 0x22a, LONG, INT),
  TWO_INT: pair("2INT", 0x22b, INT, INT),
  SHORT_INT: pair("SHORT_INT", 0x22c, SHORT, INT),
  LONG_DOUBLE_INT: pair("LONG_DOUBLE_INT", 0x22d, LONG_DOUBLE, INT),
  TWO_REAL: pair("2REAL", 0x230, REAL, REAL),
  TWO_DOUBLE_PRECISION: pair("2DOUBLE_PRECISION", 0x231, DOUBLE_PRECISION, DOUBLE_PRECISION),
  TWO_INTEGER: pair("2INTEGER", 0x232, INTEGER, INTEGER),
} as const;

export const LB = new Datatype({ ...emptyShape, lowMarker: 0 }, namedEnvelope, {
  name: "MPI_LB",
  handle: 0,
  elements: [],
});
export const UB = new Datatype({ ...emptyShape, highMarker: 0 }, namedEnvelope, {
  name: "MPI_UB",
  handle: 0,
  elements: [],
});
