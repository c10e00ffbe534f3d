import { describe, it } from "node:test";
import { InstantStream } from "../core/ft/logging/instant-stream.ts";
import { protocolConformance } from "../core/ft/protocol-conformance.ts";
import { protocols } from "../core/ft/registry.ts";
import { conformanceWorld } from "./conformance-world.ts";

for (const [name, make] of Object.entries(protocols)) {
  describe(`protocol ${name} keeps the contract`, () => {
    for (const { name: what, run } of protocolConformance) {
      const protocol = (rank: number, ranks: number) =>
        make({ rank, setOf: new Int32Array(ranks), stream: new InstantStream() });
      it(what, () => run({ protocol, world: conformanceWorld }));
    }
  });
}
