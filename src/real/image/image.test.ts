/** Images on a real disk: written at once and by the image thread, read back, refused when they are wrong. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Worker } from "node:worker_threads";
import { filledBytes } from "../../../test/filled-bytes.ts";
import { checksumOf } from "../../image/checksum.ts";
import { encodeHeader, type ImageBase } from "../../image/header.ts";
import { ImageError } from "../../image/image-error.ts";
import { pageBytes } from "../../image/kernel.ts";
import { PageSet } from "../../image/page-set.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import {
  encodeHead,
  encodeStart,
  headBytes,
  ImageRecordKind,
  type RecordHead,
  startBytes,
} from "../../image/record.ts";
import { bytesOf, facts, fillPage, newMemory } from "../../image/testing/memory.ts";
import { encodeTrailer, trailerBytes } from "../../image/trailer.ts";
import { ImageWriter } from "./image-writer.ts";
import { commitPart } from "./part-file.ts";
import { checkingImage, readImage, readImageHeader } from "./read-image.ts";
import { ImageVerifier, verifyHere } from "./verify-images.ts";
import { newStage, writeImageNow, writeImagePart } from "./write-image.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-image-"));
after(() => rmSync(folder, { recursive: true }));
const threadFile = join(process.cwd(), "dist/image-thread.cjs");
const state = filledBytes(100_000, (i) => i & 255);
const wasmPages = 64;
const whole: readonly MemoryRange[] = [[0, wasmPages * 65_536]];

function check(path: string): void {
  for (const _ of checkingImage(path));
}

function filledMemory(): WebAssembly.Memory {
  const memory = newMemory(wasmPages);
  // Half of it hardly compresses, some of it is one repeated byte, some of it is zero.
  for (let page = 0; page < 1000; page++) fillPage(memory, page, page < 500 ? 2 * page + 2 : Number(page % 3 > 0));
  return memory;
}

function assertHolds(path: string, memory: WebAssembly.Memory): void {
  const back = newMemory(wasmPages);
  const { header, state: restored } = readImage(path, back, { program: facts.program });
  assert.deepEqual(header, { ...facts, format: 1, memoryBytes: memory.buffer.byteLength });
  assert.deepEqual(restored, state);
  assert(Buffer.compare(bytesOf(memory), bytesOf(back)) === 0, "the memories are equal");
}

test("M6: image written at once comes back from disk, with nothing left beside it", () => {
  const memory = filledMemory();
  const place = mkdtempSync(join(folder, "once-"));
  const path = join(place, "rank-2.image");
  const { fileBytes, pages } = writeImageNow(path, { header: facts, state, memory, ranges: whole });
  assert.deepEqual(readdirSync(place), ["rank-2.image"]);
  assert.equal(readFileSync(path).length, fileBytes);
  assert(fileBytes < (pages - 250) * pageBytes, "what compresses well is compressed");
  assertHolds(path, memory);
  assert.equal(readImageHeader(path).rank, 2);
});

test("M6: image thread writes rounds while the program changes memory, and the last state wins", async () => {
  const memory = filledMemory();
  const path = join(folder, "rounds.image");
  const stop = new Int32Array(new SharedArrayBuffer(8));
  const program = new Worker(
    `const { workerData: { memory, stop } } = require("node:worker_threads");
    const words = new Uint32Array(memory.buffer);
    for (let i = 0; Atomics.load(stop, 0) === 0; i++) {
      words[(i * 1024) % words.length]++;
      if (i % 1000 === 0) words.fill(0, 900 * 1024, 910 * 1024);
    }
    Atomics.store(stop, 1, 1);
    Atomics.notify(stop, 1);
    require("node:worker_threads").parentPort.postMessage("stopped");`,
    { eval: true, workerData: { memory, stop } },
  );
  const stopped = new Promise((resolve) => program.once("message", resolve));
  const writer = ImageWriter.start({ path, memory, threadFile });
  const first = await writer.copyRound(whole);
  assert(first.pages > 700, `${first.pages} pages`);
  await writer.copyRound(whole);
  await writer.preCopy(() => whole);
  assert(!existsSync(path), "no image before it is complete");
  Atomics.store(stop, 0, 1);
  await stopped;
  const { captured, stored } = writer.finish({ header: facts, state, ranges: whole });
  await captured;
  const frozen = newMemory(wasmPages);
  bytesOf(frozen).set(bytesOf(memory));
  // The program continues before the file is durable.
  bytesOf(memory).fill(255);
  const report = await stored;
  assert.equal(readFileSync(path).length, report.fileBytes);
  assert(!existsSync(`${path}.part`));
  assertHolds(path, frozen);
  await program.terminate();
});

test("M6: image thread lets a thread go that only blocks, when its memory is no longer needed", async () => {
  const memory = filledMemory();
  const path = join(folder, "release.image");
  const words = new Int32Array(new SharedArrayBuffer(4));
  const rank = new Worker(
    `const { workerData: words, parentPort } = require("node:worker_threads");
    Atomics.wait(words, 0, 0);
    parentPort.postMessage(Atomics.load(words, 0));`,
    { eval: true, workerData: words },
  );
  const released = new Promise((resolve) => rank.once("message", resolve));
  const release = { words, index: 0 };
  const { stored } = ImageWriter.start({ path, memory, threadFile }).finish({
    header: facts,
    state,
    ranges: whole,
    release,
  });
  assert.equal(await released, 1);
  await stored;
  assertHolds(path, memory);
});

test("M6: image writers that fail say so, leave nothing, and let the rank go", async () => {
  const memory = filledMemory();
  const path = join(folder, "no-such-folder", "x.image");
  const contents = { header: facts, state, memory, ranges: whole };
  const refused = {
    name: "ImageError",
    message: `Cannot write image ${path}: there is no such file or folder; check the path`,
  };
  assert.throws(() => writeImageNow(path, contents), refused);
  const rounds = ImageWriter.start({ path, memory, threadFile });
  await assert.rejects(rounds.copyRound(whole), refused);
  await assert.rejects(rounds.copyRound(whole), refused);
  await assert.rejects(rounds.finish(contents).stored, refused);
  await assert.rejects(
    ImageWriter.start({ path, memory, threadFile }).preCopy(() => whole),
    refused,
  );
  const words = new Int32Array(new SharedArrayBuffer(4));
  const finishing = ImageWriter.start({ path, memory, threadFile }).finish({
    ...contents,
    release: { words, index: 0 },
  });
  await assert.rejects(finishing.captured, refused);
  await assert.rejects(finishing.stored, refused);
  assert.equal(Atomics.load(words, 0), 1);
});

test("M6: image that is discarded leaves nothing, and the one before stays", async () => {
  const memory = filledMemory();
  const place = mkdtempSync(join(folder, "discard-"));
  const path = join(place, "x.image");
  writeImageNow(path, { header: facts, state, memory, ranges: whole });
  const writer = ImageWriter.start({ path, memory, threadFile });
  await writer.copyRound(whole);
  assert.deepEqual(readdirSync(place).sort(), ["x.image", "x.image.part"]);
  await writer.discard();
  assert.deepEqual(readdirSync(place), ["x.image"]);
  await ImageWriter.start({ path, memory, threadFile }).discard();
  assertHolds(path, memory);
});

test("M6: image files that are wrong are refused by name", () => {
  const memory = filledMemory();
  const path = join(folder, "wrong.image");
  const readAll = () => readImage(path, newMemory(wasmPages), { program: facts.program });
  const says = (what: RegExp, read: () => unknown = readAll): void => {
    assert.throws(read, (error: unknown) => {
      assert(error instanceof ImageError, String(error));
      assert(error.message.startsWith(`Cannot read image ${path}: `), error.message);
      assert.match(error.message, what);
      return true;
    });
  };
  says(/there is no such file/);
  writeFileSync(path, "");
  says(/does not start like an image/);
  const { fileBytes } = writeImageNow(path, { header: facts, state, memory, ranges: whole });
  says(/is of a memory of 4194304 bytes, this one has 65536/, () => readImage(path, newMemory()));
  says(/another program/, () => readImageHeader(path, { program: "other" }));
  const good = readFileSync(path);
  for (const at of [150, 200_000, fileBytes - 30_000, fileBytes - 20]) {
    const bad = Buffer.from(good);
    bad[at]! ^= 4;
    writeFileSync(path, bad);
    says(/damaged|not complete/);
    says(/damaged|not complete/, () => check(path));
  }
  writeFileSync(path, good);
  check(path);
  truncateSync(path, fileBytes - 1);
  says(/not complete/);
  says(/not complete/, () => check(path));
  writeFileSync(path, good);
  assertHolds(path, memory);
});

test("M6: an image is checked in the room of a chunk, whatever the size of its memory", () => {
  const memory = newMemory(wasmPages);
  for (let page = 0; page < wasmPages * 16; page++) fillPage(memory, page, 2 * page + 2);
  const path = join(folder, "checked.image");
  writeImageNow(path, { header: facts, state, memory, ranges: whole });
  const before = process.memoryUsage().arrayBuffers;
  check(path);
  assert.ok(process.memoryUsage().arrayBuffers - before < memory.buffer.byteLength / 2);
});

test("M6: the thread that checks images stays for the next, and another comes in its place when it is lost", async () => {
  const path = join(folder, "verified.image");
  writeImageNow(path, { header: facts, state, memory: filledMemory(), ranges: whole });
  const missing = join(folder, "missing.image");
  const verifier = new ImageVerifier(join(process.cwd(), "dist/verify-thread.cjs"));
  const answers = [[path], [path, missing], [path]].map((paths) => verifier.verify(paths));
  const [first, second, third] = await Promise.all(answers);
  assert.deepEqual([first, third], ["", ""]);
  assert.match(second!, /missing.image: there is no such file/);
  // What is no list of paths ends the thread.
  assert.notEqual(await verifier.verify(null as unknown as string[]), "");
  assert.equal(await verifier.verify([path]), "");
});

test("M6: images are checked alike without a thread, which others need not wait for", async () => {
  const memory = newMemory(wasmPages);
  for (let page = 0; page < wasmPages * 16; page++) fillPage(memory, page, 2 * page + 2);
  const [path, damagedPath] = [join(folder, "here.image"), join(folder, "damaged-here.image")];
  writeImageNow(path, { header: facts, state, memory, ranges: whole });
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(damagedPath, bytes);
  let turns = 0;
  const turning = setInterval(() => turns++, 0);
  const many = Array.from({ length: 200 }, () => path);
  const answers = [[path], [path, join(folder, "missing.image")], [path, damagedPath], many].map(verifyHere);
  const [good, missing, damaged, all] = await Promise.all(answers);
  clearInterval(turning);
  assert.deepEqual([good, all], ["", ""]);
  assert.match(missing!, /missing.image: there is no such file/);
  assert.match(damaged!, /damaged-here.image: .* is damaged/);
  assert.ok(turns > 3, `${turns} turns of the event loop`);
});

/** Checkpoints of a rank whose memory changes a little between two of them, in folders of their own. */
async function writeChain(place: string, memory: WebAssembly.Memory, numbers: readonly number[]): Promise<string[]> {
  const stage = newStage(memory, { books: 1, isLive: false });
  let base: ImageBase | null = null;
  const paths: string[] = [];
  for (const number of numbers) {
    mkdirSync(join(place, `${number}`));
    const path = join(place, `${number}`, "2.image");
    fillPage(memory, number, 2 * number + 100);
    fillPage(memory, 400 + number, 0);
    const contents = { header: facts, state, memory, ranges: whole };
    const { chain } = writeImagePart(path, contents, { stage, book: 0, base });
    assert(!existsSync(path), "nobody relies on it before it is durable");
    await commitPart(path);
    assert.deepEqual(readdirSync(join(place, `${number}`)), ["2.image"]);
    base = { number, chain: chain.toString(16) };
    paths.push(path);
  }
  return paths;
}

test("M6: image with a base holds what has changed, and comes back with all that it builds upon", async () => {
  const memory = filledMemory();
  const place = mkdtempSync(join(folder, "chain-"));
  const [first, second, third] = (await writeChain(place, memory, [3, 5, 9])) as [string, string, string];
  assert(statSync(third).size < statSync(first).size / 5);
  for (const path of [first, second, third]) check(path);
  const back = newMemory(wasmPages);
  const { header, state: restored } = readImage(third, back, { program: facts.program });
  assert.deepEqual([header.format, header.base?.number, restored.length], [2, 5, state.length]);
  assert(Buffer.compare(bytesOf(memory), bytesOf(back)) === 0, "the memories are equal");
  assert.throws(() => readImage(third, newMemory(wasmPages), { isWhole: true }), /only what has changed since another/);
});

test("M6: image with a base is refused when anything that it builds upon is missing, damaged or another", async () => {
  const memory = filledMemory();
  const place = mkdtempSync(join(folder, "broken-chain-"));
  const [first, second, third] = (await writeChain(place, memory, [3, 5, 9])) as [string, string, string];
  const says = (what: RegExp, read: () => unknown = () => readImage(third, newMemory(wasmPages))): void =>
    assert.throws(read, (error: unknown) => error instanceof ImageError && what.test(error.message));
  for (const path of [first, second]) {
    const good = readFileSync(path);
    rmSync(path);
    says(/there is no such file/);
    says(/there is no such file/, () => check(third));
    for (const at of [150, good.length >> 1, good.length - 20]) {
      const bad = Buffer.from(good);
      bad[at]! ^= 4;
      writeFileSync(path, bad);
      says(/damaged|not complete/);
    }
    writeImageNow(path, { header: facts, state, memory, ranges: whole });
    says(/is another image than it was/);
    says(/is another image than it was/, () => check(third));
    writeFileSync(path, good);
  }
  readImage(third, newMemory(wasmPages));
  // An image that builds upon itself, or on a later one, is none.
  writeFileSync(second, readFileSync(third));
  says(/damaged|another image/);
});

test("X7: images are for their owner alone, whatever a life before has left in their place", () => {
  const path = join(mkdtempSync(join(folder, "private-")), "image");
  const elsewhere = join(folder, "elsewhere");
  writeFileSync(elsewhere, "untouched");
  symlinkSync(elsewhere, `${path}.part`);
  const before = process.umask(0);
  try {
    writeImageNow(path, { header: facts, state, memory: filledMemory(), ranges: whole });
  } finally {
    process.umask(before);
  }
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(readFileSync(elsewhere, "utf8"), "untouched");
});

test("X7: what is no file is no image, and nobody waits for it", () => {
  const path = join(folder, "fifo.image");
  assert.equal(spawnSync("mkfifo", [path]).status, 0);
  const refused = /^ImageError: Cannot read image .*: it is not a file; give the file that a checkpoint wrote$/;
  assert.throws(() => readImageHeader(path), refused);
  mkdirSync(join(folder, "folder.image"));
  assert.throws(() => readImageHeader(join(folder, "folder.image")), refused);
});

/** A file of 3 GB, nearly all of it a hole, whose heads and end are valid, but whose contents were never written. */
function sparseImage(path: string, large: "header" | "state"): void {
  const holeBytes = 3 * 2 ** 30;
  const header = encodeHeader({ ...facts, format: 1, memoryBytes: wasmPages * 65_536 });
  const bytesOfState = large === "state" ? holeBytes : 8;
  const bytesOfHeader = large === "header" ? holeBytes : header.length;
  const headOf = (kind: ImageRecordKind, bytes: number, checksum: bigint): RecordHead => ({
    kind,
    codec: 0,
    address: 0,
    bytes,
    checksum,
    pages: new PageSet(),
    zeroed: new PageSet(),
  });
  const stateHead = encodeHead(headOf(ImageRecordKind.state, bytesOfState, checksumOf(new Uint8Array(8))));
  const headerHead = encodeHead(headOf(ImageRecordKind.header, bytesOfHeader, checksumOf(header)));
  const [stateAt, headerAt] = [startBytes, startBytes + headBytes + bytesOfState];
  const fileBytes = headerAt + headBytes + bytesOfHeader + trailerBytes;
  const chain = checksumOf(headerHead, checksumOf(stateHead, 0n));
  const file = openSync(path, "w");
  for (const [bytes, at] of [
    [encodeStart(1), 0],
    [stateHead, stateAt],
    [headerHead, headerAt],
    [header, headerAt + headBytes],
    [encodeTrailer({ headerAt, stateAt, records: 2, pages: 0, fileBytes, chain }), fileBytes - trailerBytes],
  ] as const) {
    writeSync(file, bytes, 0, bytes.length, at);
  }
  closeSync(file);
}

for (const large of ["header", "state"] as const) {
  test(`X7: an image with a ${large} of 3 GB is refused before they are read`, () => {
    const path = join(folder, `sparse-${large}.image`);
    sparseImage(path, large);
    const before = process.memoryUsage().arrayBuffers;
    assert.throws(() => readImage(path, newMemory(wasmPages)), /^ImageError: Cannot read image .*is damaged/);
    assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 30, "no room was made for them");
  });
}
