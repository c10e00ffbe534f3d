/** Images of checkpoints on the disk: two that count are there, and nothing else, whoever falls on the way. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { SetCheckpoints } from "../../../core/service/set-checkpoints.ts";
import { serverFolderIn } from "../folder/job-folder.ts";
import { SetImages } from "./set-images.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-set-images-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** One set with one rank, whose node does as it is told. */
class World {
  readonly core: SetCheckpoints;
  readonly images: SetImages;
  readonly verified: (readonly string[])[] = [];
  readonly #folder = mkdtempSync(join(folder, "job-"));
  #asked = 0;

  constructor() {
    this.images = new SetImages(
      { folder: this.#folder, servers: 0 },
      {
        verify: (paths) => {
          this.verified.push(paths);
          return Promise.resolve("");
        },
        dropped() {},
      },
    );
    this.core = new SetCheckpoints(
      {
        setOf: [0],
        members: [[0]],
        checkpointInterval: { kind: "never" },
        checkpointPatienceMs: 60_000,
      },
      { incarnationOf: () => 0, hasBegun: () => true },
      {
        record() {},
        stop: (_, number) => {
          this.#asked = number;
          mkdirSync(join(this.#folder, "set-0", `${number}`), { recursive: true });
        },
        goOn() {},
        verify() {},
        mayCommit: () => true,
        drop: (set, number) => this.images.drop(set, number),
        oldest() {},
        committed() {},
        happened() {},
        note() {},
      },
    );
  }

  /** Numbers of which there are images. */
  get onDisk(): number[] {
    const ofSet = join(this.#folder, "set-0");
    const names = existsSync(ofSet) ? readdirSync(ofSet) : [];
    return names.map(Number).sort((a, b) => a - b);
  }

  begin(): void {
    this.core.takeAll(0);
  }

  /** `needs`: checkpoints that the image builds upon. */
  async take(needs: readonly number[] = []): Promise<void> {
    this.begin();
    const number = this.#asked;
    this.images.stored(0, number, needs);
    this.core.imageStored(0, { number, position: 0, callsPassed: 0, settledMs: 0, problem: "" }, 0);
    this.core.verified(0, number, await this.images.verify(0, number, [0]), 0);
  }
}

test("rule 4: what a life had begun to write goes with it", async () => {
  const world = new World();
  for (let life = 0; life < 20; life++) {
    world.begin();
    assert.equal(world.onDisk.length, 1, `life ${life}`);
    world.core.fell([0], 0);
    assert.deepEqual(world.onDisk, [], `life ${life}`);
  }
  await world.take();
  await world.take();
  await world.take();
  world.begin();
  world.core.fell([0], 0);
  assert.deepEqual(world.onDisk, [22, 23]);
});

test("rule 4: an image that cannot be read goes from the disk, and the one before is used", async () => {
  const world = new World();
  for (let i = 0; i < 3; i++) await world.take();
  assert.equal(world.core.unreadable(0, 3), "");
  assert.deepEqual(world.onDisk, [2]);
});

test("rule 4: images that others build upon stay as long as those, and no longer", async () => {
  const world = new World();
  for (const needs of [[], [], [1], [2]]) await world.take(needs);
  assert.deepEqual(world.onDisk, [1, 2, 3, 4]);
  await world.take([1, 3]);
  assert.deepEqual(world.onDisk, [1, 2, 3, 4, 5]);
  await world.take();
  // 5 and 6 count.
  assert.deepEqual(world.onDisk, [1, 3, 5, 6]);
  world.begin();
  world.images.stored(0, 7, [1, 3, 5]);
  world.core.fell([0], 0);
  assert.deepEqual(world.onDisk, [1, 3, 5, 6]);
  await world.take();
  assert.deepEqual(world.onDisk, [6, 8]);
});

test("rule 4: images are read back where ranks will find them", async () => {
  const world = new World();
  await world.take();
  assert.deepEqual(
    world.verified.map(([path]) => path?.slice(-"set-0/1/0.image".length)),
    ["set-0/1/0.image"],
  );
});

test("rule 4: images with checkpoint servers are read back by these", async () => {
  const dropped: string[] = [];
  const images = new SetImages(
    { folder, servers: 1 },
    { verify: () => assert.fail("nobody reads them here"), dropped: (set, number) => dropped.push(`${set}.${number}`) },
  );
  assert.equal(await images.verify(1, 2, [0]), "");
  images.drop(1, 2);
  assert.deepEqual(dropped, ["1.2"]);
});

test("D5 images of a rank that becomes a set of its own are there, with those that they build upon, as long as it needs them", () => {
  for (const servers of [0, 2]) {
    const job = mkdtempSync(join(folder, "split-"));
    const images = new SetImages(
      { folder: join(job, "checkpoints"), servers },
      { verify: () => Promise.resolve(""), dropped() {} },
    );
    const placeOf = (set: number): string =>
      servers === 0 ? join(job, "checkpoints") : serverFolderIn(job, set % servers);
    const at = (set: number, number: number): string => join(placeOf(set), `set-${set}`, `${number}`);
    for (const number of [1, 2]) {
      mkdirSync(at(0, number), { recursive: true });
      for (const rank of [0, 1]) writeFileSync(join(at(0, number), `${rank}.image`), `${rank} at ${number}`);
      images.stored(0, number, number === 2 ? [1] : []);
    }
    images.share({ set: 0, as: 3, rank: 1, checkpoint: { number: 2, position: 0 } });
    for (const number of [1, 2]) {
      assert.deepEqual(readdirSync(at(3, number)), ["1.image"]);
      assert.equal(readFileSync(join(at(3, number), "1.image"), "utf8"), `1 at ${number}`);
    }
    images.drop(0, 2);
    images.drop(0, 1);
    assert.deepEqual(readdirSync(at(3, 2)), ["1.image"]);
  }
});
