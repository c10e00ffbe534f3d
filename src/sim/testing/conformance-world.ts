/** Worlds for the conformance suite of protocols: by hand, between nodes of their own, every "not yet" asked again. */
import { assert } from "../../core/base/assert.ts";
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { NewProtocol } from "../../core/ft/protocol.ts";
import type { ConformanceWorld, MessageSize } from "../../core/ft/testing/protocol-conformance.ts";
import { SendMode } from "../../core/request/records.ts";
import { costModelDefault } from "../cost-model.ts";
import { ByHand } from "./scripted-world.ts";

const bytesOf: Readonly<Record<MessageSize, number>> = {
  eager: 100,
  rendezvous: 3 * costModelDefault.eagerBytesMax,
};

export function conformanceWorld(
  ranks: number,
  protocolOf: (rank: number) => NewProtocol,
  advance: () => boolean,
): ConformanceWorld {
  const hand = new ByHand({ ranks, nodes: ranks, protocol: protocolOf });
  const { world } = hand;
  const lives = new Array<number>(ranks).fill(0);
  return {
    // The contents of a message follow from its tag, so that whoever receives it can check them.
    send: ({ from, to, size, tag = 0, context = 2, isSynchronous = false }) =>
      hand.send({
        from,
        to,
        bytes: bytesOf[size],
        number: tag,
        tag,
        context,
        mode: isSynchronous ? SendMode.SYNCHRONOUS : SendMode.STANDARD,
      }),
    receive: ({ at, source = ANY_SOURCE, tag = ANY_TAG, context = 2 }) => hand.receive({ at, source, tag, context }),
    settle(): void {
      do hand.settle();
      while (advance() || world.processes.map(({ core, state }) => state !== "dead" && core.progress()).includes(true));
    },
    isComplete: (rank: number, request: RecordId) => hand.complete(rank, request),
    end(rank: number, request: RecordId): number {
      const { tag, error } = hand.end(rank, request, "its tag");
      assert(error === 0, `a receive of rank ${rank} ended with error ${error}`);
      return tag;
    },
    hasFailed: (rank: number, request: RecordId) =>
      hand.complete(rank, request) && hand.end(rank, request).error === ErrorClass.PROC_FAILED,
    kill: (rank: number) => world.crash(rank),
    revive(rank: number, protocol: NewProtocol, data: unknown): void {
      lives[rank]!++;
      const { core } = world.revive(rank, lives, protocol);
      core.protocol?.begin({ incarnation: lives[rank]!, incarnations: [...lives], data, caughtUp() {} });
      for (const { core } of world.processes) {
        if (core.rank === rank) continue;
        world.network.know(core.rank, rank, lives[rank]!);
        core.peerReturned({ rank, replica: 0 }, lives[rank]!);
      }
    },
  };
}
