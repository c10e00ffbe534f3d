/** The named values of the MPI 5.0 standard ABI that the core uses. Names keep the standard's spelling. */
export const ANY_SOURCE = -1;
export const ANY_TAG = -2;
export const PROC_NULL = -3;
export const ROOT = -4;
export const UNDEFINED = -32766;
/** Largest tag a program may use. Larger tags and negative tags belong to the runtime. */
export const TAG_UB = 0x3fffffff;

export const IDENT = 201;
export const CONGRUENT = 202;
export const SIMILAR = 203;
export const UNEQUAL = 204;

export const CART = 211;
export const GRAPH = 212;
export const DIST_GRAPH = 213;

export const COMM_TYPE_SHARED = 221;

export const ORDER_C = 12;
export const ORDER_FORTRAN = 15;
export const DISTRIBUTE_NONE = 16;
export const DISTRIBUTE_BLOCK = 17;
export const DISTRIBUTE_CYCLIC = 18;
export const DISTRIBUTE_DFLT_DARG = 19;
