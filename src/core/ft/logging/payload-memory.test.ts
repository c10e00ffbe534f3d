import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pointer } from "../../base/brand.ts";
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import type { Memory } from "../../request/memory.ts";
import { Kept, Lent, noRequest } from "./kept.ts";
import { type PayloadLog, PayloadMemory, type Spill } from "./payload-memory.ts";

/** Blocks of 100 bytes; no more of them than `blocksMax`. */
class Blocks {
  expected = 0;
  readonly bytes = new Uint8Array(1 << 16);
  readonly used = new Set<number>();
  blocksMax = 600;

  allocate(): Pointer {
    let block = 1;
    while (this.used.has(block)) block++;
    if (block > this.blocksMax) throw new MpiError(ErrorClass.NO_MEM, "no more");
    this.used.add(block);
    return (100 * block) as Pointer;
  }

  expect(bytes: number): void {
    this.expected = bytes;
  }

  free(pointer: Pointer): void {
    assert(this.used.delete(pointer / 100), "freed twice");
  }

  view(pointer: Pointer, bytes: number): Uint8Array {
    return this.bytes.subarray(pointer, pointer + bytes);
  }

  copy(to: Pointer, _toOffset: number, from: Pointer, _fromOffset: number, bytes: number): void {
    this.bytes.copyWithin(to, from, from + bytes);
  }
}

class Shelf implements Spill {
  readonly kept = new Map<string, Uint8Array>();
  #count = 0;
  put(bytes: Uint8Array): string {
    const handle = `at ${this.#count++}`;
    this.kept.set(handle, bytes.slice());
    return handle;
  }
  get(handle: string, into: Uint8Array): void {
    into.set(this.kept.get(handle)!);
  }
  drop(handle: string): void {
    this.kept.delete(handle);
  }
  flush(): void {}
}

/** Receivers 0 and 1 are of set 0, receiver 2 of set 1. */
function newLog(bytesMax: number) {
  const blocks = new Blocks();
  const shelf = new Shelf();
  const channels: Kept[][] = [[], [], []];
  const asked: (readonly number[])[] = [];
  const byReceiver = new Map(channels.map((kept, receiver) => [receiver, { kept }]));
  const log: PayloadLog = { byRank: byReceiver, setOf: Int32Array.of(0, 0, 1) };
  const options = { bytesMax, spill: shelf, full: (sets: readonly number[]) => void asked.push(sets) };
  const payloads = new PayloadMemory(blocks as unknown as Memory, options, log);
  let ticket = 0;
  const send = (dest: number, bytes: number): Kept => {
    blocks.bytes.fill(ticket, 0, bytes);
    const pointer = payloads.roomFor(bytes);
    const message = { dest, context: 2, tag: 0, bytes, sequence: ticket, isSynchronous: false, pointer };
    const kept = new Kept(message, ticket++, noRequest);
    payloads.fill(kept, 0 as Pointer);
    channels[dest]!.push(kept);
    return kept;
  };
  const bytesOf = (message: Kept): Uint8Array => blocks.view(message.pointer, message.bytes);
  return { blocks, shelf, asked, payloads, send, bytesOf };
}

test("L6 above its bound the oldest payloads leave memory, until half is free, and those who hold them are named", () => {
  const { shelf, asked, payloads, send, bytesOf } = newLog(1000);
  const sent = Array.from({ length: 10 }, (_, i) => send(i % 3, 100));
  assert.equal(payloads.bytesInMemory, 1000);
  assert.deepEqual(asked, []);
  const next = send(2, 100);
  assert.equal(payloads.bytesInMemory, 600);
  assert.deepEqual(
    sent.map(({ isInMemory }) => !isInMemory),
    [true, true, true, true, true, false, false, false, false, false],
  );
  // Two thirds of it are for set 0.
  assert.deepEqual(asked, [[0]]);
  payloads.fetch(sent[1]!);
  assert.deepEqual(bytesOf(sent[1]!), new Uint8Array(100).fill(1));
  assert.equal(shelf.kept.size, 5, "it stays outside as well: an image may name it, and it need not be written again");
  for (const message of [...sent, next]) payloads.forget(message);
  assert.equal(payloads.bytesInMemory, 0);
  assert.equal(shelf.kept.size, 0);
});

test("L6 what others are reading stays; what cannot leave does not keep anybody waiting", () => {
  const { payloads, send } = newLog(200);
  const [first, second] = [send(0, 100), send(0, 100)];
  payloads.lend(first, Lent.OFFERED);
  payloads.lend(second, Lent.TAKEN);
  const third = send(0, 100);
  assert.equal(payloads.bytesInMemory, 300);
  assert(first.isInMemory && second.isInMemory);
  send(1, 100);
  assert(!third.isInMemory);
  payloads.giveBack(first);
  send(1, 100);
  assert(!first.isInMemory);
});

test("L6 what is offered keeps nothing from being on its way, and a message larger than all memory may be", () => {
  const { payloads, send, bytesOf } = newLog(400);
  const sent = Array.from({ length: 8 }, () => send(0, 100));
  const [first, second, third] = [sent[5]!, sent[6]!, sent[0]!];
  assert(payloads.mayLend(first, Lent.OFFERED));
  payloads.lend(first, Lent.OFFERED);
  assert(!payloads.mayLend(second, Lent.OFFERED), "a quarter is offered");
  assert(payloads.mayLend(third, Lent.TAKEN));
  payloads.lend(third, Lent.TAKEN);
  assert.deepEqual(bytesOf(third), new Uint8Array(100).fill(0));
  assert(!payloads.mayLend(second, Lent.TAKEN), "and a quarter is on its way");
  payloads.giveBack(third);
  assert(payloads.mayLend(second, Lent.TAKEN));
  const small = newLog(10);
  assert(small.payloads.mayLend(small.send(0, 100), Lent.TAKEN));
});

test("L6 where others use up the memory the whole log makes room", () => {
  const { blocks, payloads, send, bytesOf } = newLog(1 << 20);
  blocks.blocksMax = 4;
  const sent = Array.from({ length: 4 }, () => send(1, 50));
  const last = send(1, 50);
  assert.equal(payloads.bytesInMemory, 50);
  assert(sent.every(({ isInMemory }) => !isInMemory));
  assert.deepEqual(bytesOf(last), new Uint8Array(50).fill(4));
});

test("L1 ADR 88: as much as the log has in memory is expected to be wanted again", () => {
  const { blocks, payloads, send } = newLog(300);
  const first = send(0, 90);
  assert.equal(blocks.expected, 90);
  for (let i = 0; i < 2; i++) send(0, 90);
  assert.equal(blocks.expected, 270);
  payloads.forget(first);
  send(0, 80);
  assert.equal(blocks.expected, 260);
});

test("messages without bytes take no room anywhere", () => {
  const { blocks, shelf, payloads, send } = newLog(0);
  payloads.forget(send(0, 0));
  assert.equal(blocks.used.size + shelf.kept.size, 0);
});
