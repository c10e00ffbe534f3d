/**
 * Bugs of Banyan. A failed assertion stops the process. Mistakes of the program are `MpiError`s, trouble in the outside world
 * is a value or an event: neither is an assertion.
 */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`Banyan is wrong here: ${what}. Please report it.`);
}

/** The default branch of a `switch` over a union: compiles only while every member has its case. */
export function unreachable(value: never): never {
  throw new Error(`Banyan is wrong here: unexpected ${JSON.stringify(value)}. Please report it.`);
}
