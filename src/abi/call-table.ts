/** Functions of MPI as tables: each takes the program, then what C passes. */
import type { Program } from "./program.ts";

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
export type Call = (...args: any[]) => number;

// biome-ignore lint/suspicious/noExplicitAny: likewise
export type CallTable = Readonly<Record<string, (program: Program, ...args: any[]) => number>>;

/** The functions of a table for one program, with as many parameters as C passes. */
export function callsOf(program: Program, table: CallTable): Record<string, Call> {
  return Object.fromEntries(Object.entries(table).map(([name, call]) => [name, call.bind(null, program)]));
}
