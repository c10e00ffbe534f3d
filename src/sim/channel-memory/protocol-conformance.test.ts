/** The cases that every protocol passes, for one that is not in the registry yet. */
import { describe, it } from "node:test";
import { channelMemoryLayouts } from "../../core/ft/channel-memory/testing/conformance-layouts.ts";
import { protocolConformance, runConformance } from "../../core/ft/testing/protocol-conformance.ts";
import { conformanceWorld } from "../testing/conformance-world.ts";

for (const layout of channelMemoryLayouts) {
  describe(`channel memories keep the contract of protocols, ${layout.name}`, () => {
    for (const aCase of protocolConformance) {
      it(aCase.name, (context) => {
        const reason = runConformance(aCase, { layout, world: conformanceWorld });
        if (reason !== null) context.skip(reason);
      });
    }
  });
}
