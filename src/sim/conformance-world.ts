/** Worlds for the conformance suite of protocols: by hand, between nodes of their own, every "not yet" asked again. */
import { assert } from "../core/base/assert.ts";
import type { RecordId } from "../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../core/base/constants.ts";
import type { NewProtocol } from "../core/ft/protocol.ts";
import type { ConformanceWorld, MessageSize } from "../core/ft/protocol-conformance.ts";
import { ByHand } from "./by-hand.ts";
import { costModelDefault } from "./cost-model.ts";

const bytesOf: Readonly<Record<MessageSize, number>> = {
  eager: 100,
  rendezvous: 3 * costModelDefault.eagerBytesMax,
};

export function conformanceWorld(ranks: number, protocolOf: (rank: number) => NewProtocol): ConformanceWorld {
  const hand = new ByHand({ ranks, nodes: ranks, protocol: protocolOf });
  return {
    // The contents of a message follow from its tag, so that whoever receives it can check them.
    send: ({ from, to, size, tag = 0, context = 2 }) =>
      hand.send({ from, to, bytes: bytesOf[size], number: tag, tag, context }),
    receive: ({ at, source = ANY_SOURCE, tag = ANY_TAG, context = 2 }) => hand.receive({ at, source, tag, context }),
    settle(): void {
      do hand.settle();
      while (hand.world.processes.map(({ core }) => core.progress()).includes(true));
    },
    isComplete: (rank: number, request: RecordId) => hand.complete(rank, request),
    end(rank: number, request: RecordId): number {
      const { tag, error } = hand.end(rank, request, "its tag");
      assert(error === 0, `a receive of rank ${rank} ended with error ${error}`);
      return tag;
    },
  };
}
