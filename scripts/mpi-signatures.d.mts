import type { Prototype } from "./mpi-wrappers.mjs";

export function parameterName(parameter: string): string;
export function isPointer(parameter: string): boolean;
/** A function's parameters in one line; a parameter without a rule is marked UNKNOWN. */
export function describe(prototype: Prototype): string;
export function signaturesOf(): Record<string, string>;
