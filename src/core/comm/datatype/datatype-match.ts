/**
 * Finding predefined datatypes by their properties: MPI_Type_match_size (MPI 5.0 §19.1.9) and MPI_Type_get_value_index
 * (§6.9.4).
 */
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import type { Datatype } from "./datatype.ts";
import { predefinedTypes } from "./datatype-predefined.ts";

export const TYPECLASS_INTEGER = 192;
export const TYPECLASS_REAL = 193;
export const TYPECLASS_COMPLEX = 194;

const { COMPLEX4, COMPLEX8, COMPLEX16, COMPLEX32, INTEGER1, INTEGER2, INTEGER4, INTEGER8, INTEGER16 } = predefinedTypes;
const { REAL2, REAL4, REAL8, REAL16 } = predefinedTypes;
const classes = new Map<number, readonly Datatype[]>([
  [TYPECLASS_INTEGER, [INTEGER1, INTEGER2, INTEGER4, INTEGER8, INTEGER16]],
  [TYPECLASS_REAL, [REAL2, REAL4, REAL8, REAL16]],
  [TYPECLASS_COMPLEX, [COMPLEX4, COMPLEX8, COMPLEX16, COMPLEX32]],
]);

/** The Fortran type of that class and length. */
export function matchSize(typeClass: number, bytes: number): Datatype {
  const types = classes.get(typeClass);
  if (types === undefined) {
    throw new MpiError(ErrorClass.ARG, `Cannot match type class ${typeClass}: it is none of integer, real and complex`);
  }
  const type = types.find((each) => each.size === bytes);
  if (type !== undefined) return type;
  const sizes = types.map((each) => each.size).join(", ");
  throw new MpiError(ErrorClass.ARG, `Cannot match a size of ${bytes} bytes: types of that class have ${sizes}`);
}

/** The pair type of a value and an index, for MINLOC and MAXLOC; nothing where none is predefined (MPI_DATATYPE_NULL). */
export function valueIndex(value: Datatype, index: Datatype): Datatype | undefined {
  if (value.elements.length !== 1 || index.elements.length !== 1) return undefined;
  const [first, second] = [value.elements[0], index.elements[0]];
  return Object.values(predefinedTypes).find(
    ({ elements }) => elements.length === 2 && elements[0] === first && elements[1] === second,
  );
}
