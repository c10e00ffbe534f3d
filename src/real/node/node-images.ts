/**
 * Images of checkpoints, seen from a node: in a folder of the job, or with checkpoint servers. With servers the folder is the
 * node's own, for images on their way: those that a rank has written itself, and those that ranks are to go on from.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchImage, isPassing } from "../file-service/client.ts";
import { fetchedFolder, folderOfCheckpoint, type ImageKey } from "../file-service/image-key.ts";
import type { Job } from "../transport/handshake/handshake.ts";
import { imagePath } from "./image-path.ts";
import { ImageStore, type ImageToStore, type ServerPlace, type Stored } from "./image-store.ts";
import type { RankRestart, RecoverySetup } from "./messages.ts";

/** A server that was lost is started again: for so long it is waited for. */
const serverPatienceMs = 10_000;
const retryMs = 50;

export class NodeImages {
  readonly #setup: Pick<RecoverySetup, "setOf" | "checkpointFolder" | "checkpointServers">;
  readonly #job: Job;
  readonly #store = new ImageStore();

  constructor(setup: Pick<RecoverySetup, "setOf" | "checkpointFolder" | "checkpointServers">, job: Job) {
    this.#setup = setup;
    this.#job = job;
  }

  /** A checkpoint of that set is about to be taken. */
  prepare(set: number, number: number): void {
    const { checkpointFolder, checkpointServers } = this.#setup;
    if (checkpointServers.length > 0) rmSync(join(checkpointFolder, `set-${set}`), { recursive: true, force: true });
    try {
      mkdirSync(folderOfCheckpoint(checkpointFolder, set, number), { recursive: true });
    } catch {
      // Whoever writes there will say what is wrong, and the attempt is given up.
    }
  }

  /** The set has a committed checkpoint of its present life: what it began with has been read. */
  committed(set: number): void {
    rmSync(fetchedFolder(this.#setup.checkpointFolder, set), { recursive: true, force: true });
  }

  /** An image that its rank has copied. */
  store(rank: number, number: number, image: ImageToStore, stored: Stored): void {
    const to = this.#serverFor(rank, number);
    this.#store.store(to === null ? { kind: "write", image } : { kind: "send", image, to }, stored);
  }

  /** An image that its rank has written. */
  deliver(rank: number, number: number, stored: Stored): void {
    const to = this.#serverFor(rank, number);
    if (to === null) stored("");
    else this.#store.store({ kind: "send-file", path: this.#pathOf(to.key), to }, stored);
  }

  /** Does any of these go on from an image that is not here? */
  areElsewhere(restarts: readonly RankRestart[]): boolean {
    return this.#setup.checkpointServers.length > 0 && restarts.some(({ imageFolder }) => imageFolder !== "");
  }

  /** Brings their images here; gives those that cannot be had, and why. */
  async fetch(restarts: readonly RankRestart[]): Promise<{ restart: RankRestart; problem: string }[]> {
    const wanted = restarts.filter(({ imageFolder }) => imageFolder !== "");
    const all = wanted.map(async (restart) => ({ restart, problem: await this.#fetchOne(restart) }));
    return (await Promise.all(all)).filter(({ problem }) => problem !== "");
  }

  async #fetchOne({ rank, checkpoint, imageFolder }: RankRestart): Promise<string> {
    const { server, key } = this.#serverFor(rank, checkpoint)!;
    const path = imagePath(imageFolder, rank);
    for (let waitedMs = 0; ; waitedMs += retryMs) {
      const problem = await fetchImage(server, key, path);
      if (!isPassing(problem) || waitedMs >= serverPatienceMs) return problem;
      await sleep(retryMs);
    }
  }

  /** Sets go round the servers. Null: there are none. */
  #serverFor(rank: number, number: number): ServerPlace | null {
    const { setOf, checkpointServers } = this.#setup;
    const set = setOf[rank]!;
    const socketPath = checkpointServers[set % checkpointServers.length];
    return socketPath === undefined ? null : { server: { socketPath, job: this.#job }, key: { set, number, rank } };
  }

  #pathOf({ set, number, rank }: ImageKey): string {
    return imagePath(folderOfCheckpoint(this.#setup.checkpointFolder, set, number), rank);
  }
}
