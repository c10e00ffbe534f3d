/** Worlds for the conformance suite of protocols: by hand, between nodes of their own, every "not yet" asked again. */
import { assert } from "../../core/base/assert.ts";
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import type { NewProtocol } from "../../core/ft/protocol.ts";
import type { ConformanceParts, ConformanceWorld, MessageSize } from "../../core/ft/testing/protocol-conformance.ts";
import { SendMode } from "../../core/request/records.ts";
import { costModelDefault } from "../cost-model.ts";
import { ByHand } from "./scripted-world.ts";

const bytesOf: Readonly<Record<MessageSize, number>> = {
  eager: 100,
  rendezvous: 3 * costModelDefault.eagerBytesMax,
};

/** Requests of a program that several processes run: the first one's, and by it those of the others. */
type Requests = Map<RecordId, readonly (readonly [number, RecordId])[]>;

export function conformanceWorld({ ranks, replicas, protocolOf, advance }: ConformanceParts): ConformanceWorld {
  const hand = new ByHand({
    ranks,
    nodes: ranks * replicas,
    protocol: (process) => protocolOf(process % ranks, Math.floor(process / ranks)),
    ...(replicas === 1 ? {} : { replicas: new Array<number>(ranks).fill(replicas) }),
  });
  const { world } = hand;
  const lives = new Array<number>(ranks).fill(0);
  const requests: Requests[] = Array.from({ length: ranks }, () => new Map());
  let names = 1 << 20;
  /** Every living process of that rank makes the call. */
  const start = (rank: number, call: (process: number) => RecordId): RecordId => {
    const made = playersOf(rank).map((process) => [process, call(process)] as const);
    const [first] = made;
    assert(first !== undefined, `rank ${rank} has a living process`);
    // A later one names its requests by other numbers than those of the first, which are in use.
    const name = first[0] === rank ? first[1] : (names++ as RecordId);
    requests[rank]!.set(name, made);
    return name;
  };
  const playersOf = (rank: number): number[] =>
    world.processes.map(({ number }) => number).filter((number) => number % ranks === rank && isAlive(number));
  const isAlive = (process: number): boolean => world.processes[process]!.state !== "dead";
  const living = (rank: number, request: RecordId): readonly (readonly [number, RecordId])[] =>
    requests[rank]!.get(request)!.filter(([process]) => isAlive(process));
  const isComplete = (rank: number, request: RecordId): boolean =>
    living(rank, request).every(([process, own]) => hand.complete(process, own));
  return {
    // The contents of a message follow from its tag, so that whoever receives it can check them.
    send: ({ from, to, size, tag = 0, context = 2, isSynchronous = false }) => {
      const mode = isSynchronous ? SendMode.SYNCHRONOUS : SendMode.STANDARD;
      const message = { to, bytes: bytesOf[size], number: tag, tag, context, mode };
      return start(from, (process) => hand.send({ ...message, from: process }));
    },
    receive: ({ at, source = ANY_SOURCE, tag = ANY_TAG, context = 2 }) =>
      start(at, (process) => hand.receive({ at: process, source, tag, context })),
    settle(): void {
      do hand.settle();
      while (advance() || world.processes.map(({ core, state }) => state !== "dead" && core.progress()).includes(true));
    },
    isComplete,
    end(rank: number, request: RecordId): number {
      const outcomes = living(rank, request).map(([process, own]) => hand.end(process, own, "its tag"));
      const { tag } = outcomes[0]!;
      for (const { error, tag: other } of outcomes) {
        assert(error === 0, `a receive of rank ${rank} ended with error ${error}`);
        assert(other === tag, `processes of rank ${rank} have received messages ${tag} and ${other}`);
      }
      return tag;
    },
    hasFailed: (rank: number, request: RecordId) =>
      isComplete(rank, request) &&
      living(rank, request).every(([process, own]) => hand.end(process, own).error === ErrorClass.PROC_FAILED),
    kill: (rank: number) => world.crash(playersOf(rank)[0]!),
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
