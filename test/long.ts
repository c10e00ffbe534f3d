/**
 * Tests that take long and show nothing that shorter ones do not show a part of: they run where somebody asks for them,
 * `npm run test:long`.
 */
const isAsked = process.env["BANYAN_LONG_TESTS"] === "1";

interface Skipping {
  readonly skip?: string;
}

export const long: Skipping = isAsked ? {} : { skip: "it takes a while: npm run test:long" };

/** Of tests that differ in a size or an option only, one runs always. */
export function longUnless(isTheOne: boolean): Skipping {
  return isTheOne ? {} : long;
}

/** How often something is tried: more often where somebody asks for it. */
export const tries = (always: number, asked: number): number => (isAsked ? asked : always);
