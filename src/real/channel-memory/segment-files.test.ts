import assert, { deepEqual, equal, ok } from "node:assert/strict";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { StoredHomes } from "../../core/ft/channel-memory/memory/stored-homes.ts";
import type { DirectWrite } from "./direct-write.ts";
import { SegmentFiles } from "./segment-files.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-memory-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(folder, String(folders++));

const messageBytes = 4096;
const itemsMax = 10;
/** Words of a message, which follow from its number. */
const wordsOf = (sequence: number): Int32Array => new Int32Array(messageBytes / 4).fill(sequence * 7 + 1);
const facts = (sequence: number) => ({
  source: 1,
  sequence,
  context: 2,
  tag: 0,
  bytes: messageBytes,
  isSynchronous: false,
});

function post(homes: StoredHomes, sequence: number): void {
  homes.post(0, facts(sequence), messageBytes, wordsOf(sequence));
  homes.settle();
}

function check(homes: StoredHomes, sequence: number): void {
  const [piece] = homes.reader.messageOf(homes.homeOf(0), 1, sequence)!.pieces;
  deepEqual(homes.wordsOf(piece!, new Int32Array(messageBytes / 4)), wordsOf(sequence));
}

describe("the files of a channel memory", () => {
  it("room is reserved for many words, ahead of them, and what is left of it is given back", () => {
    const path = newFolder();
    const asked: number[][] = [];
    const reserve = (_file: number, from: number, bytes: number): boolean => asked.push([from, bytes]) > 0;
    const store = new SegmentFiles(path, false, undefined, reserve);
    const mib = new Int32Array(1 << 18);
    store.begin(0);
    store.appendFirst(mib, 2);
    deepEqual(asked, [], "few words need none");
    for (let i = 0; i < 5; i++) store.append([mib]);
    store.append([mib, mib, mib, mib, mib]);
    deepEqual(asked, [
      [8, 4 << 20],
      [8 + (4 << 20), 4 << 20],
      [8 + (8 << 20), 4 << 20],
    ]);
    store.begin(1);
    equal(statSync(join(path, "segment-0")).size, 8 + (10 << 20));
    store.end();
  });

  it("a segment is as long as what was written, whatever room it has, and takes no more of the disk when another has begun", () => {
    const path = newFolder();
    const store = new SegmentFiles(path);
    const words = new Int32Array(1 << 14).fill(9);
    store.begin(0);
    store.append([words]);
    const file = join(path, "segment-0");
    equal(statSync(file).size, words.byteLength);
    store.begin(1);
    ok(512 * statSync(file).blocks < 1 << 20);
    const read = new Int32Array(words.length);
    store.read(0, 0, read);
    deepEqual(read, words);
    store.end();
  });

  it("a disk that has no room for more than what is written is written to all the same, and not asked again", () => {
    const path = newFolder();
    let asked = 0;
    const store = new SegmentFiles(path, false, undefined, () => asked++ > 0);
    store.begin(0);
    for (let i = 0; i < 3; i++) store.append([Int32Array.of(1, 2, 3)]);
    equal(asked, 1);
    equal(statSync(join(path, "segment-0")).size, 36);
    store.end();
  });

  it("few words are written whole, however much the direct way takes of them", () => {
    const words = Int32Array.of(1, 2, 3, 4, 5);
    const ways: (DirectWrite | null | undefined)[] = [
      undefined,
      null,
      () => -1,
      (file, { buffer }) => writeSync(file, new Uint8Array(buffer, 0, 5)),
    ];
    for (const direct of ways) {
      const path = newFolder();
      const store = new SegmentFiles(path, false, direct);
      store.begin(0);
      store.appendFirst(words, 3);
      store.appendFirst(words, 4);
      store.end();
      const { buffer, byteOffset, byteLength } = Uint8Array.from(readFileSync(join(path, "segment-0")));
      deepEqual([...new Int32Array(buffer, byteOffset, byteLength / 4)], [1, 2, 3, 1, 2, 3, 4]);
    }
  });

  it("V3: a memory of 64 KB holds four megabytes of messages; freed ones leave the disk", () => {
    const path = newFolder();
    const bytesMax = 1 << 16;
    const store = new SegmentFiles(path);
    const homes = StoredHomes.empty({ store, bytesMax, itemsMax, segmentWordsMax: 1 << 14 });
    const count = 1000;
    for (let sequence = 0; sequence < count; sequence++) {
      post(homes, sequence);
      ok(homes.bytesInMemory <= bytesMax);
    }
    const onDisk = (): number => readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
    ok(onDisk() > count * messageBytes);
    for (let sequence = 0; sequence < count; sequence += 37) check(homes, sequence);
    homes.mark(0, 1, { entries: count - 5, events: 0, incomplete: [1, 11] });
    homes.free(0, 1);
    ok(onDisk() < 500_000, `${onDisk()} bytes are left`);
    store.end();
    const next = new SegmentFiles(path);
    const after = StoredHomes.restored(next.written(1000), {
      store: next,
      bytesMax,
      itemsMax,
      segmentWordsMax: 1 << 14,
    });
    ok(typeof after !== "string", String(after));
    for (const sequence of [11, count - 5, count - 1]) check(after, sequence);
    equal(after.homeOf(0).entries.end, count);
    next.end();
  });

  it("V7: a process that was lost while it wrote leaves a file that ends anywhere: its successor has all before that", () => {
    const sizes: number[] = [];
    for (let cut = 0; cut < 60; cut += 7) {
      const path = newFolder();
      const options = { bytesMax: 0, itemsMax, segmentWordsMax: 1 << 20 };
      const store = new SegmentFiles(path);
      const homes = StoredHomes.empty({ store, ...options });
      post(homes, 0);
      post(homes, 1);
      store.end();
      const [name] = readdirSync(path);
      const file = join(path, name!);
      truncateSync(file, statSync(file).size - cut);
      const next = new SegmentFiles(path);
      const after = StoredHomes.restored(next.written(100), { store: next, ...options });
      ok(typeof after !== "string", String(after));
      check(after, 0);
      equal(after.homeOf(0).has(1, 1), cut === 0);
      // It goes on in a segment of its own.
      if (cut > 0) post(after, 1);
      check(after, 1);
      sizes.push(readdirSync(path).length);
      next.end();
    }
    ok(sizes.every((count) => count === 2));
  });
});

it("V3 V7: after a power cut the last segment may end with garbage, which is cut off, and no other may", () => {
  const place = join(folder, "cut");
  const write = (files: SegmentFiles, homes: StoredHomes): void => {
    homes.beginLife(1, 1);
    homes.settle();
    files.end();
  };
  const options = (store: SegmentFiles) => ({
    store,
    bytesMax: 0,
    itemsMax,
    segmentWordsMax: 1 << 20,
    mayEndDamaged: true,
  });
  const first = new SegmentFiles(place, true);
  write(first, StoredHomes.empty(options(first)));
  const path = join(place, "segment-1");
  const whole = readFileSync(path);
  for (const garbage of [Buffer.alloc(40), Buffer.alloc(3, 7), Buffer.from("garbage ".repeat(9))]) {
    writeFileSync(path, Buffer.concat([whole, garbage]));
    rmSync(join(place, "segment-2"), { force: true });
    const next = new SegmentFiles(place, true);
    const homes = StoredHomes.restored(next.written(), options(next));
    assert.ok(typeof homes !== "string", String(homes));
    assert.equal(homes.lifeOf(1), 1);
    next.end();
  }
  writeFileSync(path, Buffer.concat([whole, Buffer.alloc(40)]));
  const strict = new SegmentFiles(place);
  const refused = StoredHomes.restored(strict.written(), { ...options(strict), mayEndDamaged: false });
  assert.match(String(refused), /^segment 1: record \d+ at byte \d+ has a damaged head$/);
});
