/** Blocking receives that are never posted, of messages that the protocol wants to see (`Protocol.mayPass`). */
import { deepEqual, equal, fail } from "node:assert/strict";
import { describe, it } from "node:test";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import type { Pointer, WorldRank } from "../base/brand.ts";
import { ANY_SOURCE } from "../base/constants.ts";
import { Now } from "../p2p/engine.ts";
import { Arrival } from "../request/decisions.ts";
import { SEQUENCE } from "../wire/packet.ts";
import { PassThrough } from "./pass-through.ts";

/** Wants to see the messages of all other ranks, and drops some. */
class Sees extends PassThrough {
  readonly calls: string[] = [];
  readonly dropped = new Set<number>();

  override mayPass(peer: number): boolean {
    return peer === 1;
  }
  override arrived(words: Int32Array, packet: number): Arrival {
    const sequence = words[packet + SEQUENCE]!;
    this.calls.push(`arrived ${sequence}`);
    return this.dropped.has(sequence) ? Arrival.DROP : Arrival.TAKE;
  }
  override held(source: WorldRank, sequence: number): void {
    this.calls.push(`held ${source} ${sequence}`);
  }
  override received(isAnySource: boolean, source: WorldRank, sequence: number): void {
    this.calls.push(`received ${isAnySource} ${source} ${sequence}`);
  }
}

function newWorld() {
  const sees = new Sees();
  const hand = new ByHand({ ranks: 2, nodes: 2, protocol: (rank) => (rank === 1 ? () => sees : null) });
  const process = hand.world.processes[1]!;
  // What arrives stays at the head of the channel until a receive looks.
  process.state = "computing";
  const buffer = process.memory.allocate(64) as Pointer;
  const now = (source: number): number => hand.engine(1).receiveNow(buffer, 64, source, 0, 2);
  const send = (number: number): void => {
    hand.send({ from: 0, to: 1, bytes: 8, number });
    hand.settle();
  };
  return { sees, hand, now, send, stored: () => hand.engine(1).unexpected.count };
}

describe("a blocking receive takes a message that the protocol wants to see", () => {
  it("rule 1: from its packet; the protocol hears that it arrived, that it is here, and which receive has it", () => {
    const { sees, now, send, hand, stored } = newWorld();
    const { records } = hand.engine(1);
    records.take = () => fail("a record is taken for it");
    send(5);
    equal(now(ANY_SOURCE), Now.DONE);
    deepEqual(sees.calls, ["arrived 0", "held 0 0", "received true 0 0"]);
    const { lastSource, lastBytes } = hand.engine(1);
    deepEqual([lastSource, lastBytes, stored()], [0, 8, 0]);
  });

  it("rule 1: a message that the protocol drops is asked about once, and the receive takes the next", () => {
    const { sees, now, send, stored } = newWorld();
    sees.dropped.add(0);
    send(5);
    equal(now(0), Now.NOTHING);
    send(6);
    equal(now(0), Now.DONE);
    deepEqual(sees.calls, ["arrived 0", "arrived 1", "held 0 1", "received false 0 1"]);
    equal(stored(), 0);
  });

  it("rule 1: a message that was stored before its receive came is not asked about again", () => {
    const { sees, now, send, hand, stored } = newWorld();
    send(5);
    hand.engine(1).progress();
    equal(stored(), 1);
    equal(now(0), Now.DONE);
    deepEqual(sees.calls, ["arrived 0", "held 0 0", "received false 0 0"]);
  });
});
