import { describe, it } from "node:test";
import { protocolConformance } from "../core/ft/protocol-conformance.ts";
import { protocols } from "../core/ft/registry.ts";
import { conformanceWorld } from "./conformance-world.ts";

for (const [name, protocol] of Object.entries(protocols)) {
  describe(`protocol ${name} keeps the contract`, () => {
    for (const { name: what, run } of protocolConformance) {
      it(what, () => run({ protocol, world: conformanceWorld }));
    }
  });
}
