import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { SpillFile } from "./spill-file.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-spill-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const bytesOf = (value: number, length: number): Uint8Array => new Uint8Array(length).fill(value);
const got = (spill: SpillFile, handle: string, length: number): Uint8Array => {
  const into = new Uint8Array(length);
  spill.get(handle, into);
  return into;
};

test("L6 payloads come back as they went, also in a later life of the rank", () => {
  const here = join(folder, "lives");
  const first = new SpillFile({ folder: here, rank: 3, incarnation: 0 });
  const handles = Array.from({ length: 50 }, (_, i) => first.put(bytesOf(i, 10_000 + i)));
  for (const [i, handle] of handles.entries()) assert.deepEqual(got(first, handle, 10_000 + i), bytesOf(i, 10_000 + i));
  const last = first.put(bytesOf(99, 5));
  first.flush();
  const second = new SpillFile({ folder: here, rank: 3, incarnation: 1 });
  const own = second.put(bytesOf(7, 7));
  assert.deepEqual(got(second, last, 5), bytesOf(99, 5));
  assert.deepEqual(got(second, handles[20]!, 10_020), bytesOf(20, 10_020));
  assert.deepEqual(got(second, own, 7), bytesOf(7, 7));
  second.drop(last);
  assert.deepEqual(got(first, last, 5), bytesOf(99, 5));
});

test("L6 files whose payloads are all dropped are removed, in any order of dropping", () => {
  const here = join(folder, "dropped");
  assert(!existsSync(here), "nothing is made before it is needed");
  const spill = new SpillFile({ folder: here, rank: 0, incarnation: 0 });
  const handles = Array.from({ length: 150 }, (_, i) => spill.put(bytesOf(i, 1 << 20)));
  assert.equal(readdirSync(here).length, 3);
  for (const handle of handles.slice(0, 128).reverse()) spill.drop(handle);
  assert.equal(readdirSync(here).length, 1);
  assert.deepEqual(got(spill, handles[140]!, 1 << 20), bytesOf(140, 1 << 20));
  for (const handle of handles) spill.drop(handle);
  assert.equal(readdirSync(here).length, 1, "the one that is written to stays");
});

test("L6 a disk that takes nothing is said with its folder and a way out, as MPI_ERR_NO_SPACE", () => {
  const here = join(folder, "a-file");
  writeFileSync(here, "");
  const spill = new SpillFile({ folder: join(here, "in-it"), rank: 0, incarnation: 0 });
  assert.throws(
    () => spill.put(bytesOf(1, 1)),
    (error) =>
      error instanceof MpiError &&
      error.code === ErrorClass.NO_SPACE &&
      /^Cannot keep in .*in-it what was sent: its folder is a file; make room,/.test(error.message),
  );
});
