/** Images of checkpoints on the disk: two that count are there, and nothing else, whoever falls on the way. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ToNode } from "../node/messages.ts";
import { SetCheckpoints } from "./set-checkpoints.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-set-checkpoints-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** One set with one rank, whose node does as it is told. */
class World {
  readonly notes: string[] = [];
  readonly checkpoints: SetCheckpoints;
  readonly #folder = mkdtempSync(join(folder, "job-"));
  #asked = 0;
  #committed = 0;

  constructor() {
    this.checkpoints = new SetCheckpoints(
      {
        ...{ setOf: [0], members: [[0]], folder: this.#folder, checkpointServers: [], isTypeScript: false },
        ...{ checkpointInterval: { kind: "never" }, checkpointPatienceMs: 60_000 },
      },
      {
        toSet: (_, message) => this.#heard(message),
        incarnationOf: () => 0,
        hasBegun: () => true,
        verify: () => Promise.resolve(""),
        dropped() {},
        happened: () => Promise.resolve(),
        endOfStream: () => Promise.resolve(0),
        note: (message) => this.notes.push(message),
        committed: () => this.#committed++,
      },
    );
  }

  /** Numbers of which there are images. */
  get onDisk(): number[] {
    const ofSet = join(this.#folder, "set-0");
    return existsSync(ofSet)
      ? readdirSync(ofSet)
          .map(Number)
          .sort((a, b) => a - b)
      : [];
  }

  /** Asks for a checkpoint; its image is there as far as the node is concerned. */
  begin(): void {
    this.checkpoints.takeAll();
  }

  stored(problem = ""): void {
    const facts = { number: this.#asked, position: 0, callsPassed: 0, inputOffset: 0, settledMs: 0 };
    this.checkpoints.image(0, { kind: "image", problem, ...facts });
  }

  async take(): Promise<void> {
    const before = this.#committed;
    this.begin();
    this.stored();
    while (this.#committed === before) await new Promise((resolve) => setImmediate(resolve));
  }

  #heard(message: ToNode): void {
    if (message.kind !== "checkpoint") return;
    this.#asked = message.number;
    mkdirSync(join(this.#folder, "set-0", `${message.number}`), { recursive: true });
  }
}

test("L4: what a life had begun to write goes with it", async () => {
  const world = new World();
  for (let life = 0; life < 20; life++) {
    world.begin();
    assert.equal(world.onDisk.length, 1, `life ${life}`);
    world.checkpoints.setFell(0);
    assert.deepEqual(world.onDisk, [], `life ${life}`);
  }
  await world.take();
  await world.take();
  await world.take();
  world.begin();
  world.checkpoints.setFell(0);
  assert.deepEqual(world.onDisk, [22, 23]);
});

test("L8: an image that cannot be read goes, and the one before is used; then there is none, and that is said", async () => {
  const world = new World();
  for (let i = 0; i < 3; i++) await world.take();
  assert.equal(world.checkpoints.unreadable(0, 3), "");
  assert.deepEqual(world.onDisk, [2]);
  assert.equal(world.checkpoints.newest(0).number, 2);
  // Another rank of the set has found the same.
  assert.equal(world.checkpoints.unreadable(0, 3), "");
  assert.match(world.checkpoints.unreadable(0, 2), /^Cannot start rank 0 again: checkpoints 3 and 2 cannot be read, /);
});

test("L8: as long as the logs reach back to the beginning, that is what is left", async () => {
  const world = new World();
  await world.take();
  assert.equal(world.checkpoints.unreadable(0, 1), "");
  assert.deepEqual(world.checkpoints.newest(0), { number: 0, position: 0, imageFolder: "" });
});

test("L4: a disk that stays full is reported once, and when it is not any more", async () => {
  const world = new World();
  for (let attempt = 0; attempt < 30; attempt++) {
    world.begin();
    world.stored(`Cannot write image ${folder}/set-0/${attempt}/0.image: no space is left; make room`);
  }
  assert.equal(world.notes.length, 1);
  await world.take();
  assert.deepEqual(world.notes.slice(1), ["checkpoints are taken again; 30 were given up"]);
});
