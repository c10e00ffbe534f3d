/** The names of the standard, as fields of `mpi`: constants, predefined datatypes and operations, error classes. */
import {
  ANY_SOURCE,
  ANY_TAG,
  CART,
  CONGRUENT,
  DIST_GRAPH,
  DISTRIBUTE_BLOCK,
  DISTRIBUTE_CYCLIC,
  DISTRIBUTE_DFLT_DARG,
  DISTRIBUTE_NONE,
  GRAPH,
  IDENT,
  ORDER_C,
  ORDER_FORTRAN,
  PROC_NULL,
  ROOT,
  SIMILAR,
  TAG_UB,
  UNDEFINED,
  UNEQUAL,
} from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { BSEND_OVERHEAD } from "../core/binding/buffered-sends.ts";
import { Combiner } from "../core/comm/datatype/datatype-combiner.ts";
import { predefinedTypes as type } from "../core/comm/datatype/datatype-predefined.ts";
import { errorsAbort, errorsAreFatal, errorsReturn } from "../core/comm/error-handler.ts";
import { predefinedOps as op } from "../core/comm/op/op-predefined.ts";
import { IN_PLACE, type InPlace } from "./collective-sides.ts";
import { predefinedKeyvals } from "./keyvals.ts";

export abstract class Names {
  readonly ANY_SOURCE = ANY_SOURCE;
  readonly ANY_TAG = ANY_TAG;
  readonly PROC_NULL = PROC_NULL;
  readonly ROOT = ROOT;
  readonly UNDEFINED = UNDEFINED;
  readonly TAG_UB = TAG_UB;
  readonly IN_PLACE: InPlace = IN_PLACE;
  readonly BSEND_OVERHEAD = BSEND_OVERHEAD;

  /** What `compare` says. */
  readonly IDENT = IDENT;
  readonly CONGRUENT = CONGRUENT;
  readonly SIMILAR = SIMILAR;
  readonly UNEQUAL = UNEQUAL;

  /** Kinds of topologies. */
  readonly CART = CART;
  readonly GRAPH = GRAPH;
  readonly DIST_GRAPH = DIST_GRAPH;

  readonly COMM_TYPE_SHARED = "shared";
  readonly COMM_TYPE_HW_UNGUIDED = "hw_unguided";
  readonly COMM_TYPE_HW_GUIDED = "hw_guided";
  readonly COMM_TYPE_RESOURCE_GUIDED = "resource_guided";

  readonly ORDER_C = ORDER_C;
  readonly ORDER_FORTRAN = ORDER_FORTRAN;
  readonly DISTRIBUTE_BLOCK = DISTRIBUTE_BLOCK;
  readonly DISTRIBUTE_CYCLIC = DISTRIBUTE_CYCLIC;
  readonly DISTRIBUTE_NONE = DISTRIBUTE_NONE;
  readonly DISTRIBUTE_DFLT_DARG = DISTRIBUTE_DFLT_DARG;
  readonly COMBINER = Combiner;

  /** Error classes: `error.code === mpi.ERR.TRUNCATE`. */
  readonly ERR = ErrorClass;
  readonly ERRORS_ARE_FATAL = errorsAreFatal;
  readonly ERRORS_ABORT = errorsAbort;
  readonly ERRORS_RETURN = errorsReturn;

  /** Keys of the attributes that every communicator has: `world.getAttribute(mpi.KEYVALS.TAG_UB)`. */
  readonly KEYVALS = predefinedKeyvals;

  readonly SUM = op.SUM;
  readonly PROD = op.PROD;
  readonly MIN = op.MIN;
  readonly MAX = op.MAX;
  readonly LAND = op.LAND;
  readonly LOR = op.LOR;
  readonly LXOR = op.LXOR;
  readonly BAND = op.BAND;
  readonly BOR = op.BOR;
  readonly BXOR = op.BXOR;
  readonly MINLOC = op.MINLOC;
  readonly MAXLOC = op.MAXLOC;
  readonly REPLACE = op.REPLACE;
  readonly NO_OP = op.NO_OP;

  readonly AINT = type.AINT;
  readonly COUNT = type.COUNT;
  readonly OFFSET = type.OFFSET;
  readonly PACKED = type.PACKED;
  readonly SHORT = type.SHORT;
  readonly INT = type.INT;
  readonly LONG = type.LONG;
  readonly LONG_LONG = type.LONG_LONG;
  readonly UNSIGNED_SHORT = type.UNSIGNED_SHORT;
  readonly UNSIGNED = type.UNSIGNED;
  readonly UNSIGNED_LONG = type.UNSIGNED_LONG;
  readonly UNSIGNED_LONG_LONG = type.UNSIGNED_LONG_LONG;
  readonly FLOAT = type.FLOAT;
  readonly C_FLOAT_COMPLEX = type.C_FLOAT_COMPLEX;
  readonly CXX_FLOAT_COMPLEX = type.CXX_FLOAT_COMPLEX;
  readonly DOUBLE = type.DOUBLE;
  readonly C_DOUBLE_COMPLEX = type.C_DOUBLE_COMPLEX;
  readonly CXX_DOUBLE_COMPLEX = type.CXX_DOUBLE_COMPLEX;
  readonly LOGICAL = type.LOGICAL;
  readonly INTEGER = type.INTEGER;
  readonly REAL = type.REAL;
  readonly COMPLEX = type.COMPLEX;
  readonly DOUBLE_PRECISION = type.DOUBLE_PRECISION;
  readonly DOUBLE_COMPLEX = type.DOUBLE_COMPLEX;
  readonly CHARACTER = type.CHARACTER;
  readonly LONG_DOUBLE = type.LONG_DOUBLE;
  readonly C_LONG_DOUBLE_COMPLEX = type.C_LONG_DOUBLE_COMPLEX;
  readonly CXX_LONG_DOUBLE_COMPLEX = type.CXX_LONG_DOUBLE_COMPLEX;
  readonly C_BOOL = type.C_BOOL;
  readonly CXX_BOOL = type.CXX_BOOL;
  readonly WCHAR = type.WCHAR;
  readonly INT8_T = type.INT8_T;
  readonly UINT8_T = type.UINT8_T;
  readonly CHAR = type.CHAR;
  readonly SIGNED_CHAR = type.SIGNED_CHAR;
  readonly UNSIGNED_CHAR = type.UNSIGNED_CHAR;
  readonly BYTE = type.BYTE;
  readonly INT16_T = type.INT16_T;
  readonly UINT16_T = type.UINT16_T;
  readonly INT32_T = type.INT32_T;
  readonly UINT32_T = type.UINT32_T;
  readonly INT64_T = type.INT64_T;
  readonly UINT64_T = type.UINT64_T;
  readonly LOGICAL1 = type.LOGICAL1;
  readonly INTEGER1 = type.INTEGER1;
  readonly LOGICAL2 = type.LOGICAL2;
  readonly INTEGER2 = type.INTEGER2;
  readonly REAL2 = type.REAL2;
  readonly LOGICAL4 = type.LOGICAL4;
  readonly INTEGER4 = type.INTEGER4;
  readonly REAL4 = type.REAL4;
  readonly COMPLEX4 = type.COMPLEX4;
  readonly LOGICAL8 = type.LOGICAL8;
  readonly INTEGER8 = type.INTEGER8;
  readonly REAL8 = type.REAL8;
  readonly COMPLEX8 = type.COMPLEX8;
  readonly LOGICAL16 = type.LOGICAL16;
  readonly INTEGER16 = type.INTEGER16;
  readonly REAL16 = type.REAL16;
  readonly COMPLEX16 = type.COMPLEX16;
  readonly COMPLEX32 = type.COMPLEX32;
  readonly FLOAT_INT = type.FLOAT_INT;
  readonly DOUBLE_INT = type.DOUBLE_INT;
  readonly LONG_INT = type.LONG_INT;
  readonly TWO_INT = type.TWO_INT;
  readonly SHORT_INT = type.SHORT_INT;
  readonly LONG_DOUBLE_INT = type.LONG_DOUBLE_INT;
  readonly TWO_REAL = type.TWO_REAL;
  readonly TWO_DOUBLE_PRECISION = type.TWO_DOUBLE_PRECISION;
  readonly TWO_INTEGER = type.TWO_INTEGER;
}
