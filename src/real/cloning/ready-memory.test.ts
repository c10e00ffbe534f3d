import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as passed } from "node:timers/promises";
import { ReadyMemory } from "./ready-memory.ts";

const mib = 2 ** 20;

async function until(isTrue: () => boolean): Promise<void> {
  for (let waits = 0; !isTrue(); waits++) {
    assert(waits < 500, "it takes too long");
    await passed(10);
  }
}

test("D2 the memory of a clone is written beforehand as far as ranks use theirs, and is zero", async () => {
  const ready = new ReadyMemory(() => 1000 * mib);
  ready.prepare({ memoryMb: 32, usedMb: 10 });
  await until(() => ready.writtenBytes === 10 * mib);
  ready.prepare({ memoryMb: 32, usedMb: 99 });
  await until(() => ready.writtenBytes === 32 * mib);
  const memory = ready.take(32);
  assert.equal(memory?.buffer.byteLength, 32 * mib);
  assert(new BigInt64Array(memory.buffer).every((word) => word === 0n));
  assert.equal(ready.take(32), undefined, "it is given once");
});

test("D2 where little memory is free none is written beforehand, and another size is none", async () => {
  const ready = new ReadyMemory(() => 12 * mib);
  ready.prepare({ memoryMb: 32, usedMb: 10 });
  await passed(50);
  assert.equal(ready.writtenBytes, 0);
  assert.equal(ready.take(16), undefined);
});
