import { describe, it } from "node:test";
import { InstantStream } from "../core/ft/logging/instant-stream.ts";
import { passThrough } from "../core/ft/pass-through.ts";
import { protocolConformance } from "../core/ft/protocol-conformance.ts";
import { protocols } from "../core/ft/registry.ts";
import { conformanceWorld } from "./conformance-world.ts";

for (const { name, rank: newRank } of protocols) {
  describe(`protocol ${name} keeps the contract`, () => {
    for (const { name: what, run } of protocolConformance) {
      const protocol = (rank: number, ranks: number) => {
        const resources = { stream: new InstantStream(), payloads: null };
        const part = { rank, ranks, setOf: new Int32Array(ranks), options: {}, passed: new Float64Array(1), resources };
        return newRank?.(part) ?? passThrough;
      };
      it(what, () => run({ protocol, world: conformanceWorld }));
    }
  });
}
