/** L1, X7: the file with which the successor of a service's process goes on. */
import { deepEqual, equal, fail } from "node:assert/strict";
import {
  existsSync,
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
import { readRecords, StoreFrames } from "../../core/service-channel/service-store.ts";
import { piecesOf, StoreFile } from "./store-file.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-store-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(folder, `store-${files++}`);

const wordsIn = (path: string): number[] => {
  const { buffer, byteOffset, byteLength } = Uint8Array.from(readFileSync(path));
  return [...new Int32Array(buffer, byteOffset, byteLength / 4)];
};
const noTrouble = { gaveUp: (why: string) => fail(why) };

describe("the file of a service's store", () => {
  it("has what was appended, for its owner alone", () => {
    const path = newPath();
    const store = new StoreFile(path, noTrouble);
    store.replace([Int32Array.of(1, 2), Int32Array.of(3)]);
    store.append(Int32Array.of(4, 5).subarray(1));
    deepEqual(wordsIn(path), [1, 2, 3, 5]);
    equal(statSync(path).mode & 0o777, 0o600);
  });

  it("L1 is read in pieces, also where it has more than 2 GiB", () => {
    const path = newPath();
    const frames = new StoreFrames();
    for (let i = 0; i < 10; i++) {
      frames.begin(i, 0, 0);
      frames.finish();
    }
    new StoreFile(path, noTrouble).replace([frames.take()]);
    const kinds: number[] = [];
    const read = (pieceBytes?: number): string => {
      kinds.length = 0;
      return readRecords(piecesOf(path, pieceBytes), ([kind]) => {
        kinds.push(kind!);
        return "";
      });
    };
    for (const pieceBytes of [5, 24, 1000]) {
      equal(read(pieceBytes), "");
      deepEqual(kinds, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
    // The rest is a hole, which takes no room on the disk, and is no record.
    truncateSync(path, 2 ** 31 + 2 ** 20);
    equal(read(), "record 10 at byte 240 has a damaged head");
    deepEqual(kinds, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("is replaced as a whole, over what a process that was lost meanwhile has left", () => {
    const path = newPath();
    writeFileSync(`${path}.new`, "half of it");
    const store = new StoreFile(path, noTrouble);
    store.replace([Int32Array.of(1)]);
    store.replace(parts(path, [1]));
    store.append(Int32Array.of(9));
    deepEqual(wordsIn(path), [7, 8, 9]);
    equal(existsSync(`${path}.new`), false);
  });

  it("another process that still writes to it does not reach the file that has taken its place", () => {
    const path = newPath();
    const old = new StoreFile(path, noTrouble);
    old.replace([Int32Array.of(1)]);
    new StoreFile(path, noTrouble).replace([Int32Array.of(2)]);
    old.append(Int32Array.of(3));
    deepEqual(wordsIn(path), [2]);
  });

  it("a write that takes only a part is gone on with", () => {
    const path = newPath();
    const write = (file: number, bytes: Uint8Array, at: number): number => writeSync(file, bytes, at, 1);
    const store = new StoreFile(path, { ...noTrouble, write });
    store.replace([Int32Array.of(1, 2)]);
    store.append(Int32Array.of(3));
    deepEqual(wordsIn(path), [1, 2, 3]);
  });

  it("X7 when the disk is full nothing is left that says less than was acknowledged, and that is told once", () => {
    for (const failing of [1, 2, 3]) {
      const path = newPath();
      const told: string[] = [];
      let writes = 0;
      const write = (file: number, bytes: Uint8Array, at: number): number => {
        if (++writes >= failing) throw Object.assign(new Error(), { code: "ENOSPC" });
        return writeSync(file, bytes, at);
      };
      const store = new StoreFile(path, { gaveUp: (why) => told.push(why), write });
      store.replace([Int32Array.of(1)]);
      store.append(Int32Array.of(2));
      store.append(Int32Array.of(3));
      store.replace([Int32Array.of(4)]);
      deepEqual(told, ["the disk is full"]);
      deepEqual(
        readdirSync(folder).filter((name) => path.endsWith(name.replace(".new", ""))),
        [],
      );
    }
  });

  it("X7 a folder that is gone is told of, too", () => {
    const told: string[] = [];
    new StoreFile(join(folder, "none", "store"), { gaveUp: (why) => told.push(why) }).replace([]);
    deepEqual(told, ["its folder does not exist"]);
  });
});

/** The file that is there is the old one until the last part is written. */
function* parts(path: string, before: readonly number[]): Iterable<Int32Array> {
  yield Int32Array.of(7);
  deepEqual(wordsIn(path), before);
  yield Int32Array.of(8);
}
