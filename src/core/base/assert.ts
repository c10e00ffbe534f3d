/**
 * Our own bugs. A failed assertion stops the process: it is never the program's mistake (that is an `MpiError`) and never
 * the world's (that is a value or an event).
 */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`Banyan is wrong here: ${what}. Please report it.`);
}

/** The default branch of a `switch` over a union: compiles only while every member has its case. */
export function unreachable(value: never): never {
  throw new Error(`Banyan is wrong here: unexpected ${JSON.stringify(value)}. Please report it.`);
}
