/** Which constructor made a datatype (MPI 5.0 §5.1.13), with the numbers of the ABI. */
export const Combiner = {
  NAMED: 101,
  DUP: 102,
  CONTIGUOUS: 103,
  VECTOR: 104,
  HVECTOR: 105,
  INDEXED: 106,
  HINDEXED: 107,
  INDEXED_BLOCK: 108,
  HINDEXED_BLOCK: 109,
  STRUCT: 110,
  SUBARRAY: 111,
  DARRAY: 112,
  F90_REAL: 113,
  F90_COMPLEX: 114,
  F90_INTEGER: 115,
  RESIZED: 116,
  VALUE_INDEX: 117,
} as const;
export type Combiner = (typeof Combiner)[keyof typeof Combiner];
