/** Datatypes by precision and range, as Fortran asks for them: MPI 5.0 §19.1.9. */
import { UNDEFINED } from "../../core/base/constants.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { Datatype } from "../../core/comm/datatype/datatype.ts";
import { Combiner } from "../../core/comm/datatype/datatype-combiner.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import type { Program } from "../program.ts";

interface Candidate {
  readonly type: Datatype;
  /** Decimal digits, and the decimal exponent, that it holds at least. */
  readonly precision: number;
  readonly range: number;
}

const { INTEGER1, INTEGER2, INTEGER4, INTEGER8, INTEGER16 } = predefinedTypes;
const { REAL4, REAL8, REAL16, COMPLEX8, COMPLEX16, COMPLEX32 } = predefinedTypes;
const integers: readonly Candidate[] = [
  { type: INTEGER1, precision: 0, range: 2 },
  { type: INTEGER2, precision: 0, range: 4 },
  { type: INTEGER4, precision: 0, range: 9 },
  { type: INTEGER8, precision: 0, range: 18 },
  { type: INTEGER16, precision: 0, range: 38 },
];
const floating = (single: Datatype, double: Datatype, quad: Datatype): readonly Candidate[] => [
  { type: single, precision: 6, range: 37 },
  { type: double, precision: 15, range: 307 },
  { type: quad, precision: 33, range: 4931 },
];
const reals = floating(REAL4, REAL8, REAL16);
const complexes = floating(COMPLEX8, COMPLEX16, COMPLEX32);

/** Types by precision and range are predefined: the same arguments give the same one again. */
function typeFor(program: Program, combiner: Combiner, asked: readonly number[]): number {
  const isIt = ({ envelope }: Datatype): boolean =>
    envelope.combiner === combiner && envelope.integers.every((value, i) => value === asked[i]);
  const known = program.types.list().find(({ core }) => isIt(core));
  if (known !== undefined) return known.handle;
  const { shape, elements } = smallest(combiner, asked);
  const envelope = { combiner, integers: asked, addresses: [], datatypes: [] };
  return program.addType(new Datatype(shape, envelope, { name: "", handle: 0, elements }).commit());
}

const creates = (combiner: Combiner) => (program: Program, precision: number, range: number, out: number) =>
  program.putInt(out, typeFor(program, combiner, [precision, range]));

const table: CallTable = {
  MPI_Type_create_f90_integer: (program, range: number, out: number) =>
    program.putInt(out, typeFor(program, Combiner.F90_INTEGER, [range])),
  MPI_Type_create_f90_real: creates(Combiner.F90_REAL),
  MPI_Type_create_f90_complex: creates(Combiner.F90_COMPLEX),
};

export const fortranTypeCalls = (program: Program) => callsOf(program, table);

/** The first type that holds what is asked for, as Fortran's selected_int_kind and selected_real_kind choose. */
function smallest(combiner: Combiner, asked: readonly number[]): Datatype {
  const isInteger = combiner === Combiner.F90_INTEGER;
  const [precision, range] = isInteger ? [0, asked[0]!] : [asked[0]!, asked[1]!];
  const candidates = isInteger ? integers : combiner === Combiner.F90_REAL ? reals : complexes;
  const anything = !isInteger && precision === UNDEFINED && range === UNDEFINED;
  const found = candidates.find((each) => precision <= each.precision && range <= each.range);
  if (found !== undefined && !anything) return found.type;
  const widest = candidates.at(-1)!;
  const most = isInteger ? `range ${widest.range}` : `precision ${widest.precision} and range ${widest.range}`;
  const state = anything ? "one of them must be given" : `types have at most ${most}`;
  const wanted = isInteger ? `range ${range}` : `precision ${precision} and range ${range}`;
  throw new MpiError(ErrorClass.ARG, `Cannot find a Fortran type of ${wanted}: ${state}`);
}
