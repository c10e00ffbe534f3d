import { ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { longUnless } from "../../test/long.ts";
import { channelMemory } from "../core/ft/channel-memory/definition.ts";
import { channelMemoryLayouts } from "../core/ft/channel-memory/testing/conformance-layouts.ts";
import { logging } from "../core/ft/logging/definition.ts";
import { loggingLayouts } from "../core/ft/logging/testing/conformance-layouts.ts";
import { protocols } from "../core/ft/registry.ts";
import { replication } from "../core/ft/replication/definition.ts";
import { replicationLayouts } from "../core/ft/replication/testing/conformance-layouts.ts";
import {
  type ConformanceLayout,
  plainLayout,
  protocolConformance,
  runConformance,
} from "../core/ft/testing/protocol-conformance.ts";
import { conformanceWorld } from "./testing/conformance-world.ts";

/** Of protocols that take sends themselves. */
const ownLayouts: Readonly<Record<string, readonly ConformanceLayout[]>> = {
  [logging.name]: loggingLayouts,
  [replication.name]: replicationLayouts,
  [channelMemory.name]: channelMemoryLayouts,
};

const layoutsOf = new Map(
  protocols.map((protocol) => [protocol, ownLayouts[protocol.name] ?? [plainLayout(protocol)]]),
);

for (const [{ name }, layouts] of layoutsOf) {
  for (const layout of layouts) {
    describe(`protocol ${name} keeps the contract, ${layout.name}`, longUnless(layout.isSlow !== true), () => {
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
  it("has no case that applies to no layout", () => {
    const all = [...layoutsOf.values()].flat();
    for (const { name, ranks, skip } of protocolConformance) {
      ok(
        all.some((layout) => (skip?.(layout.protocols(ranks)) ?? null) === null),
        name,
      );
    }
  });
});
