/**
 * What engines make of names and lives, whatever the transport: cases in the form of `transport-conformance.ts`, which the tests of
 * transports run beside that suite. Each role has an engine of its own on the transport that it is given.
 */
import type { Pointer, RecordId } from "../../base/brand.ts";
import type { Identity } from "../../base/identity.ts";
import { Went } from "../../request/decisions.ts";
import type { Memory } from "../../request/memory.ts";
import { R_STATUS_SOURCE, R_STATUS_TAG, SendMode } from "../../request/records.ts";
import { BYTES, CONTEXT, KIND, PacketKind, SEQUENCE, TAG } from "../../wire/packet.ts";
import type { ConformanceCase, ConformanceEnd, Role } from "../../wire/testing/transport-conformance.ts";
import { Engine } from "../engine.ts";
import { ProtocolAccess } from "../protocol-access.ts";

interface EngineEnd extends ConformanceEnd {
  readonly memory: Memory;
}

/** Two ranks with two processes each: (0, 0), (1, 0), (0, 1), (1, 1). */
const size = { ranks: 2, replicas: 2 };
const names: readonly Identity[] = [0, 1, 2, 3].map((process) => ({
  rank: process % 2,
  replica: process >> 1,
  incarnation: 0,
}));
const lost = { rank: 1, replica: 0 };
const context = 2;
/** Eager on every transport, and by rendezvous on every transport. */
const small = 60;
const large = 300_000;
const Tag = { FIRST: 1, GO: 2, SMALL: 3, LARGE: 4, LATE: 5, SPEAK: 6, DONE: 7 } as const;

const byteAt = (tag: number, at: number): number => (tag * 17 + at * 3 + (at >> 8)) & 0xff;

class Player {
  readonly engine: Engine;
  readonly #end: EngineEnd;

  constructor(end: EngineEnd) {
    this.#end = end;
    const { transport, memory } = end;
    const { rank, replica } = names[end.rank]!;
    this.engine = new Engine({ rank, replica, ...size, transport, memory });
  }

  *until(ready: () => boolean): Role {
    while (!ready()) if (!this.engine.progress()) yield;
  }

  filled(tag: number, bytes: number): Pointer {
    const pointer = this.#end.memory.allocate(bytes);
    const view = this.#end.memory.view(pointer, bytes);
    for (let at = 0; at < bytes; at++) view[at] = byteAt(tag, at);
    return pointer;
  }

  /** To the replica of that rank that gets our messages. */
  *send(dest: number, tag: number, bytes: number): Role {
    const { engine } = this;
    const request = engine.startSend(this.filled(tag, bytes), bytes, dest, tag, context, SendMode.STANDARD);
    yield* this.until(() => engine.isComplete(request));
    engine.giveBack(request);
  }

  *receive(source: number, tag: number, bytes: number): Role {
    const { engine } = this;
    const { memory, check } = this.#end;
    const pointer = memory.allocate(bytes);
    const request: RecordId = engine.startReceive(pointer, bytes, source, tag, context);
    yield* this.until(() => engine.isComplete(request));
    const status = [engine.records.get(request, R_STATUS_SOURCE), engine.records.get(request, R_STATUS_TAG)];
    check(status[0] === source && status[1] === tag, `the status says rank ${status[0]} and tag ${status[1]}`);
    const wrong = memory.view(pointer, bytes).findIndex((value, at) => value !== byteAt(tag, at));
    check(wrong < 0, `byte ${wrong} of ${bytes} is right`);
    engine.giveBack(request);
  }

  /** On behalf of the lost process, as its next life. */
  *sendForLost(tag: number, bytes: number, sequence: number): Role {
    const { engine } = this;
    const from = { ...lost, incarnation: 1 };
    const pointer = this.filled(tag, bytes);
    const message = { dest: 0, replica: 0, from, context, tag, bytes, sequence, pointer };
    const access = new ProtocolAccess(engine);
    const went = () => access.transmit({ ...message, isSynchronous: false, isLent: true }, 0) !== Went.NOWHERE;
    yield* this.until(went);
    // The record of the send is the only one, and is given back when the answer has come.
    yield* this.until(() => engine.records.count === 0);
  }
}

/** Rank 0: has a message of the lost process, hears of the loss, and goes on with its partner. */
function* survivor(player: Player, end: EngineEnd): Role {
  const { engine } = player;
  yield* player.receive(1, Tag.FIRST, small);
  const access = new ProtocolAccess(engine);
  access.peerLost(lost, 1);
  access.place(lost, 3);
  access.peerBack(lost);
  access.route({ rank: 1, replica: 1 });
  yield* player.send(1, Tag.GO, small);
  yield* player.receive(1, Tag.SMALL, small);
  yield* player.receive(1, Tag.LARGE, large);
  end.check(engine.arrivals.fenced === 0, "all that came so far was of the present life");
  // The lost one only seemed to be lost. Its name leads elsewhere: it is spoken to past the engine.
  yield* sendByHand(end, 1, Tag.SPEAK);
  yield* player.until(() => engine.arrivals.fenced === 1);
  end.check(engine.unexpected.count === 0 && engine.records.count === 0, "nothing is left of what came too late");
  end.check(engine.arrivals.refused === 0, "and nothing else was wrong");
  yield* sendByHand(end, 1, Tag.DONE);
}

function* sendByHand({ transport }: EngineEnd, process: number, tag: number): Role {
  let packet = transport.reserve(process, 0);
  while (packet < 0) {
    yield;
    packet = transport.reserve(process, 0);
  }
  const { words } = transport;
  words[packet + KIND] = PacketKind.EAGER;
  words[packet + CONTEXT] = context;
  words[packet + TAG] = tag;
  words[packet + BYTES] = 0;
  words[packet + SEQUENCE] = 0;
  transport.commit(process);
}

const substitute: ConformanceCase = {
  name: "ADR 16: a partner stands in for a lost process: the answers come to it, and what the old life sends is dropped",
  ranks: 4,
  identities: names,
  *role(end: EngineEnd) {
    const player = new Player(end);
    switch (end.rank) {
      case 0:
        yield* survivor(player, end);
        return;
      case 1:
        yield* player.send(0, Tag.FIRST, small);
        yield* player.receive(0, Tag.SPEAK, 0);
        yield* player.send(0, Tag.LATE, small);
        yield* player.receive(0, Tag.DONE, 0);
        return;
      case 3:
        yield* player.receive(0, Tag.GO, small);
        yield* player.sendForLost(Tag.SMALL, small, 1);
        yield* player.sendForLost(Tag.LARGE, large, 2);
    }
  },
};

export const engineCases: readonly ConformanceCase[] = [substitute];
