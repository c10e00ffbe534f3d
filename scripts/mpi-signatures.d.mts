import type { Prototype } from "./mpi-wrappers.mjs";

export function parameterName(parameter: string): string;
export function isPointer(parameter: string): boolean;
/** A function's line of src/abi/signatures.ts; what no rule covers is marked UNKNOWN. */
export function describe(prototype: Prototype): string;
export function signaturesSource(): string;
