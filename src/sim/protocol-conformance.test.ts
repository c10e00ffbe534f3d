import { deepEqual, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { conformanceLayouts } from "../core/ft/conformance-layouts.ts";
import { protocolConformance, runConformance } from "../core/ft/protocol-conformance.ts";
import { protocols } from "../core/ft/registry.ts";
import { conformanceWorld } from "./conformance-world.ts";

for (const [name, layouts] of Object.entries(conformanceLayouts)) {
  for (const layout of layouts) {
    describe(`protocol ${name} keeps the contract, ${layout.name}`, () => {
      for (const aCase of protocolConformance) {
        it(aCase.name, (context) => {
          const reason = runConformance(aCase, { layout, world: conformanceWorld });
          if (reason !== null) context.skip(reason);
        });
      }
    });
  }
}

describe("the conformance suite", () => {
  it("runs on every protocol of the registry", () => {
    deepEqual(new Set(Object.keys(conformanceLayouts)), new Set(Object.keys(protocols)));
  });

  it("has no case that applies to no layout", () => {
    const all = Object.values(conformanceLayouts).flat();
    for (const { name, ranks, skip } of protocolConformance) {
      ok(
        all.some((layout) => (skip?.(layout.protocols(ranks)) ?? null) === null),
        name,
      );
    }
  });
});
