/** When a message leaves, and when it is copied. Everything else about the log: sim/logging, sim/recovery. */
import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pointer } from "../../base/brand.ts";
import { Went } from "../../request/decisions.ts";
import { ModelMemory } from "../channel-memory/testing/model-memory.ts";
import { DeterminantLog } from "../determinants/determinant-log.ts";
import { DeterminantKind } from "../determinants/determinant-stream.ts";
import type { ProtocolPorts } from "../protocol.ts";
import type { Channel } from "./channel.ts";
import { Channels } from "./channels.ts";
import { Confirmations } from "./confirmations.ts";
import { hashOfMessage } from "./kept.ts";
import { PayloadMemory } from "./payload-memory.ts";
import { SenderLog } from "./sender-log.ts";
import { LateStream } from "./testing/late-stream.ts";

const eagerBytes = 16;
const tag = 7;
const context = 2;

/** Rank 0, which sends to rank 1 of another set. */
class Sender {
  readonly memory = new ModelMemory();
  readonly stream = new LateStream();
  readonly program: Pointer;
  /** What has left: the number, and whose buffer it was read from; of an announced one whether its copy was there. */
  readonly left: string[] = [];
  hasRoom = true;
  sharesMemory = false;
  readonly log: SenderLog;
  readonly channel: Channel;
  #next = 0;

  constructor() {
    this.program = this.memory.allocate(64);
    const ports = {
      isEager: ({ bytes }: { readonly bytes: number }) => bytes <= eagerBytes,
      shares: () => this.sharesMemory,
      transmitNow: (from: Pointer, bytes: number, _dest: number, _tag: number, _context: number, sequence: number) => {
        if (!this.hasRoom) return false;
        const whose = from === this.program ? "the program" : "the log";
        deepEqual([...this.memory.view(from, bytes)], this.#bytesOf(sequence, bytes));
        this.left.push(`${sequence} from ${whose}`);
        return true;
      },
      transmit: ({ sequence, pointer, bytes }: { sequence: number; pointer: Pointer; bytes: number }) => {
        if (!this.hasRoom) return Went.NOWHERE;
        const isThere = this.memory.view(pointer, bytes).every((byte) => byte === sequence + 1);
        this.left.push(`${sequence} announced, ${isThere ? "copied" : "not copied"}`);
        return Went.ENVELOPE;
      },
    } as unknown as ProtocolPorts;
    const channels = new Channels(0, Int32Array.of(0, 1));
    const log = new DeterminantLog(0, this.stream);
    const payloads = new PayloadMemory(this.memory, null, channels);
    this.log = new SenderLog(ports, { channels, log, payloads, confirmations: new Confirmations(ports, log) });
    this.channel = channels.with(1)!;
  }

  /** A message whose bytes all are its number and one. */
  send(bytes: number): void {
    const sequence = this.#next++;
    this.memory.view(this.program, bytes).fill(sequence + 1);
    this.log.keep(this.channel, this.program, bytes, tag, context, sequence);
    // The program goes on.
    this.memory.view(this.program, bytes).fill(255);
  }

  choose(): void {
    this.stream.append(0, DeterminantKind.CHOICE, [1, 2]);
  }

  checkLog(): void {
    for (const { pointer, bytes, sequence } of this.channel.kept) {
      deepEqual([...this.memory.view(pointer, bytes)], this.#bytesOf(sequence, bytes));
    }
  }

  #bytesOf(sequence: number, bytes: number): number[] {
    return new Array<number>(bytes).fill(sequence + 1);
  }
}

describe("ADR 87: a message leaves before it is copied", () => {
  it("an eager one, from the program's buffer; it is in the log when the call is over", () => {
    const sender = new Sender();
    for (const bytes of [8, 0, eagerBytes]) sender.send(bytes);
    deepEqual(sender.left, ["0 from the program", "1 from the program", "2 from the program"]);
    sender.checkLog();
    equal(sender.channel.isPending, false);
    equal(sender.log.isBusy, false);
  });

  it("a long one is announced first, unless its receiver could read it at once", () => {
    const sender = new Sender();
    sender.send(eagerBytes + 1);
    sender.sharesMemory = true;
    sender.send(eagerBytes + 1);
    deepEqual(sender.left, ["0 announced, not copied", "1 announced, copied"]);
    sender.checkLog();
  });

  it("not where others wait for room before it: all leave in their order, from the log", () => {
    const sender = new Sender();
    sender.hasRoom = false;
    sender.send(8);
    sender.send(eagerBytes + 1);
    sender.hasRoom = true;
    sender.send(8);
    deepEqual(sender.left, ["0 from the log", "1 announced, copied", "2 from the log"]);
    sender.checkLog();
  });

  it("not before the choices that it may depend on are stable", () => {
    const sender = new Sender();
    sender.choose();
    sender.send(8);
    sender.send(eagerBytes + 1);
    deepEqual(sender.left, []);
    sender.stream.settle();
    sender.log.progress();
    deepEqual(sender.left, ["0 from the log", "1 announced, copied"]);
    sender.checkLog();
  });

  it("not to a peer that has it from the life before, nor to one that has not told yet what it has", () => {
    const sender = new Sender();
    const { channel, log } = sender;
    channel.close(1);
    sender.send(8);
    channel.hearBegin();
    channel.hearHeld(2);
    channel.hearSum(hashOfMessage(2, context, tag, 8));
    channel.hearEnd(0);
    log.resume(channel);
    log.progress();
    for (let i = 0; i < 3; i++) sender.send(8);
    deepEqual(sender.left, ["0 from the log", "1 from the program", "3 from the program"]);
    sender.checkLog();
  });

  it("not where the log has no room for it", () => {
    const sender = new Sender();
    sender.memory.allocate = () => {
      throw new Error("full");
    };
    throws(() => sender.send(8), /full/);
    deepEqual(sender.left, []);
  });
});
