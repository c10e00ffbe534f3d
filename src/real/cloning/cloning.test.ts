/** A memory that changes while it travels from one thread to another, over a socket; and either end dying. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { after, test } from "node:test";
import { Worker } from "node:worker_threads";
import { pageBytes } from "../../image/kernel.ts";
import { bytesOf, facts, fillPage, newMemory } from "../../image/testing/memory.ts";
import { secretBytes } from "../transport/handshake/handshake.ts";
import type { CloneKey, FromReceiver, FromSender, LastLook, LastPart, ReceiverSetup, ToSender } from "./messages.ts";

const job = { id: "a job", secret: Uint8Array.from(randomBytes(secretBytes)) };
const host = "127.0.0.1";
const wasmPages = 256;
const pages = wasmPages * 16;
/** The program's marks: 1000 pages are its own, 500 at the end the runtime's, of which the last hundred are for stacks. */
const marks = { marks: 1024, area: (pages - 100) * pageBytes, bytes: 100 * pageBytes };
const [breakAt, limitAt] = [1000 * pageBytes, (pages - 500) * pageBytes];

const workers: Worker[] = [];
after(() => Promise.all(workers.map((worker) => worker.terminate())));

function started(file: string): Worker {
  const worker = new Worker(join(process.cwd(), "dist", file));
  workers.push(worker);
  return worker;
}

function next<Message extends { readonly kind: string }>(worker: Worker): Promise<Message> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

function filledMemory(): WebAssembly.Memory {
  const memory = newMemory(wasmPages);
  const words = new Int32Array(memory.buffer);
  for (let page = 1; page < 1000; page++) fillPage(memory, page, page % 7);
  for (let page = pages - 500; page < pages - 100; page++) fillPage(memory, page, page % 5);
  words[marks.marks >> 2] = breakAt;
  words[(marks.marks >> 2) + 1] = limitAt;
  return memory;
}

const tell = (sender: Worker, message: ToSender): void => sender.postMessage(message);

const lastLook: LastLook = {
  kind: "last-look",
  ranges: [
    [0, breakAt],
    [limitAt, marks.area],
  ],
};
const lastPart: LastPart = { kind: "last-part", header: facts, state: Uint8Array.of(9, 8, 7) };

interface Pair {
  readonly memory: WebAssembly.Memory;
  readonly room: WebAssembly.Memory;
  readonly sender: Worker;
  readonly receiver: Worker;
}

/** Both are at work. `wanted`: the clone that the receiver asks for; `threads`: those that have done something before. */
async function travelling(
  clone: CloneKey,
  wanted = clone,
  threads: Pick<Pair, "sender" | "receiver"> = {
    sender: started("clone-sender.cjs"),
    receiver: started("clone-receiver.cjs"),
  },
): Promise<Pair> {
  const { sender, receiver } = threads;
  const memory = filledMemory();
  tell(sender, { kind: "setup", clone, lane: { index: 0, of: 1 }, memory, marks, job, host });
  const listening = await next<FromSender>(sender);
  assert(listening.kind === "listening", JSON.stringify(listening));
  const room = newMemory(wasmPages);
  const from = { host, port: listening.port };
  receiver.postMessage({ clone: wanted, index: 0, memory: room, job, from } satisfies ReceiverSetup);
  return { memory, room, sender, receiver };
}

/** The program stands still, and both ends come to their end. */
async function finished({ memory, room, sender, receiver }: Pair, order: readonly ToSender[]): Promise<number> {
  const arriving = next<FromReceiver>(receiver);
  for (const message of order) tell(sender, message);
  const captured = await next<FromSender>(sender);
  assert(captured.kind === "captured", JSON.stringify(captured));
  const [over, arrived] = await Promise.all([next<FromSender>(sender), arriving]);
  assert(over.kind === "over" && arrived.kind === "arrived", JSON.stringify([over, arrived]));
  assert.deepEqual(arrived.state, lastPart.state);
  assert.equal(arrived.header.program, facts.program);
  assert(Buffer.compare(bytesOf(memory), bytesOf(room)) === 0, "the memories are equal");
  return captured.last.pages;
}

test("D2 pages go while the program runs, those that changed again, and the last when it stands still", async () => {
  const pair = await travelling({ source: 3, number: 17 });
  const copied = await next<FromSender>(pair.sender);
  assert(copied.kind === "copied", JSON.stringify(copied));
  assert(copied.rounds[0]!.pages > 1000, "all pages in use that are not zero");
  for (const page of [1, 77, 999, pages - 101]) fillPage(pair.memory, page, 6);
  // What is no longer in use is zero.
  fillPage(pair.memory, 500, 0);
  const left = await finished(pair, [lastLook, lastPart]);
  assert(left <= 4, `${left} pages were left`);
});

test("D2 threads that have given away and filled one memory do so with another, whichever of look and state comes first", async () => {
  const one = await travelling({ source: 3, number: 22 });
  assert.equal((await next<FromSender>(one.sender)).kind, "copied");
  await finished(one, [lastPart, lastLook]);
  const other = await travelling({ source: 4, number: 23 }, { source: 4, number: 23 }, one);
  assert.equal((await next<FromSender>(other.sender)).kind, "copied");
  fillPage(other.memory, 78, 6);
  await finished(other, [lastLook, lastPart]);
});

test("D2 a source whose clone's node is gone says so, and so does the other way round", async () => {
  const one = await travelling({ source: 3, number: 18 });
  assert.equal((await next<FromSender>(one.sender)).kind, "copied");
  const failed = next<FromSender>(one.sender);
  await one.receiver.terminate();
  assert.equal((await failed).kind, "failed");
  const other = await travelling({ source: 3, number: 19 });
  assert.equal((await next<FromSender>(other.sender)).kind, "copied");
  const lost = next<FromReceiver>(other.receiver);
  await other.sender.terminate();
  assert.equal((await lost).kind, "failed");
});

test("D2 another clone's memory is not given away", async () => {
  const { receiver } = await travelling({ source: 3, number: 20 }, { source: 3, number: 21 });
  assert.equal((await next<FromReceiver>(receiver)).kind, "failed");
});
