import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import fc, { seedFrom } from "./testing/properties.ts";

const drawn = (): number[] => {
  const values: number[] = [];
  fc.assert(fc.property(fc.nat(), (value) => void values.push(value)));
  return values;
};

describe("property tests", () => {
  it("draw the same values in every run", { skip: process.env["BANYAN_SEED"] === "random" }, () => {
    deepEqual(drawn(), drawn());
  });

  it("use the seed they are given", () => {
    deepEqual(seedFrom("-7"), { seed: -7 });
    deepEqual(seedFrom("random"), {});
    equal(typeof seedFrom(undefined).seed, "number");
    throws(() => seedFrom("lucky"), /^Error: Cannot use BANYAN_SEED="lucky": give a whole number, or random$/);
  });

  it("name the seed that failed, and what failed", async () => {
    const says = /seed: 5[\s\S]*See it again with BANYAN_SEED=5 npm test/;
    const never = (): never => {
      throw new Error("never true");
    };
    throws(() => fc.assert(fc.property(fc.nat(), never), { seed: 5 }), says);
    await rejects(
      async () =>
        fc.assert(
          fc.asyncProperty(fc.nat(), async () => never()),
          { seed: 5 },
        ),
      says,
    );
    throws(
      () => fc.assert(fc.property(fc.nat(), never), { seed: 5 }),
      ({ cause }: Error) => cause instanceof Error && cause.message === "never true",
    );
  });
});
