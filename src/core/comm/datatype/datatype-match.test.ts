import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../../base/mpi-error.ts";
import { matchSize, TYPECLASS_COMPLEX, TYPECLASS_INTEGER, TYPECLASS_REAL, valueIndex } from "./datatype-match.ts";
import { predefinedTypes } from "./datatype-predefined.ts";

test("M5 §19.1.9 Type_match_size", () => {
  assert.equal(matchSize(TYPECLASS_REAL, 8), predefinedTypes.REAL8);
  assert.equal(matchSize(TYPECLASS_INTEGER, 4), predefinedTypes.INTEGER4);
  assert.equal(matchSize(TYPECLASS_COMPLEX, 16), predefinedTypes.COMPLEX16);
  assert.throws(() => matchSize(TYPECLASS_REAL, 3), {
    code: ErrorClass.ARG,
    message: "Cannot match a size of 3 bytes: types of that class have 2, 4, 8, 16",
  });
  assert.throws(() => matchSize(1, 4), { code: ErrorClass.ARG });
});

test("M5 §6.9.4 Type_get_value_index", () => {
  const { DOUBLE, DOUBLE_INT, INT, REAL, TWO_INT, TWO_REAL } = predefinedTypes;
  assert.equal(valueIndex(DOUBLE, INT), DOUBLE_INT);
  assert.equal(valueIndex(INT, INT), TWO_INT);
  assert.equal(valueIndex(REAL, REAL), TWO_REAL);
  assert.equal(valueIndex(DOUBLE, DOUBLE), undefined);
  assert.equal(valueIndex(DOUBLE_INT, INT), undefined);
});
