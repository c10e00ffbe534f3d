/**
 * Images of checkpoints, seen from a node: in the job's folder if the node sees it, with the dispatcher if it does not, or with
 * checkpoint servers. Where they are kept elsewhere this node has those on their way: images that ranks have written, and images
 * that ranks are to go on from.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ImageError } from "../../image/image-error.ts";
import { type FileService, fetchFile, patiently } from "../file-service/client.ts";
import { type CheckpointImage, folderOfCheckpoint } from "../file-service/file-key.ts";
import { imagePath } from "../image/image-path.ts";
import { readImageHeader } from "../image/read-image.ts";
import type { RankRestart } from "../messages/lives.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/sockets/address.ts";
import { ImageStore, type Stored } from "./image-store.ts";

interface NodeImagesOptions {
  readonly setOf: readonly number[];
  /** Where the images are, or are on their way. */
  readonly folder: string;
  /** Checkpoint servers, as in `RecoverySetup`. */
  readonly servers: readonly (Address | null)[];
  /** Keeps the images where there are no servers; null: they stay in the folder. */
  readonly dispatcher: FileService | null;
  readonly job: JobSecret;
}

export class NodeImages {
  readonly #options: NodeImagesOptions;
  readonly #store = new ImageStore();
  #servers: readonly (Address | null)[];

  constructor(options: NodeImagesOptions) {
    this.#options = options;
    this.#servers = options.servers;
  }

  serversAre(servers: readonly (Address | null)[]): void {
    this.#servers = servers;
  }

  /** A checkpoint of that set is about to be taken. */
  prepare(set: number, number: number): void {
    const { folder } = this.#options;
    if (this.#keeperOf(set) !== null) rmSync(join(folder, `set-${set}`), { recursive: true, force: true });
    try {
      mkdirSync(folderOfCheckpoint(folder, set, number), { recursive: true });
    } catch {
      // The thread that writes there will say what is wrong, and the attempt is given up.
    }
  }

  /** The set has a committed checkpoint of its present life: what it began with has been read. */
  committed(set: number): void {
    if (this.#keeperOf(set) !== null) rmSync(this.#fetchedFolder(set), { recursive: true, force: true });
  }

  /** An image that its rank has written into a file that is not durable yet. */
  store(rank: number, number: number, stored: Stored): void {
    const file = this.#fileOf(rank, number);
    const service = this.#keeperOf(file.set);
    const path = imagePath(folderOfCheckpoint(this.#options.folder, file.set, number), rank);
    if (service === null) this.#store.keep(path, stored);
    else this.#store.send({ path, service, file }, stored);
  }

  /** Where a rank finds the image that it goes on from; empty: it begins at the start of the program. */
  folderOf({ rank, checkpoint }: RankRestart): string {
    const set = this.#options.setOf[rank]!;
    if (checkpoint === 0) return "";
    return this.#keeperOf(set) === null
      ? folderOfCheckpoint(this.#options.folder, set, checkpoint)
      : join(this.#fetchedFolder(set), `${checkpoint}`);
  }

  /** Does any of these go on from an image that is not here? */
  areElsewhere(restarts: readonly RankRestart[]): boolean {
    return restarts.some(
      ({ rank, checkpoint }) => checkpoint > 0 && this.#keeperOf(this.#options.setOf[rank]!) !== null,
    );
  }

  /** Brings their images here; gives those that cannot be had, and why. */
  async fetch(restarts: readonly RankRestart[]): Promise<{ restart: RankRestart; problem: string }[]> {
    const wanted = restarts.filter(({ checkpoint }) => checkpoint > 0);
    const all = wanted.map(async (restart) => ({ restart, problem: await this.#fetchOne(restart) }));
    return (await Promise.all(all)).filter(({ problem }) => problem !== "");
  }

  /** The image, and those that it builds upon. */
  async #fetchOne(restart: RankRestart): Promise<string> {
    for (let checkpoint = restart.checkpoint; checkpoint > 0; ) {
      const problem = await this.#fetchFile({ ...restart, checkpoint });
      if (problem !== "") return problem;
      checkpoint = this.#baseOf({ ...restart, checkpoint });
    }
    return "";
  }

  /** The checkpoint that the image of another one builds upon, which is an earlier one; 0: none. */
  #baseOf(restart: RankRestart): number {
    try {
      const { base } = readImageHeader(imagePath(this.folderOf(restart), restart.rank));
      return base !== undefined && base.number < restart.checkpoint ? base.number : 0;
    } catch (error) {
      // The rank, which reads the image in a moment, will say what is wrong with it.
      if (error instanceof ImageError) return 0;
      throw error;
    }
  }

  #fetchFile(restart: RankRestart): Promise<string> {
    const file = this.#fileOf(restart.rank, restart.checkpoint);
    const path = imagePath(this.folderOf(restart), restart.rank);
    const keeper = this.#keeperOf(file.set);
    if (keeper === null) return Promise.resolve("");
    // Asked again each time: a server that is started again is elsewhere.
    return patiently(
      () => this.#keeperOf(file.set) ?? keeper,
      (service) => fetchFile(service, file, path),
    );
  }

  #fileOf(rank: number, number: number): CheckpointImage {
    return { kind: "checkpoint", set: this.#options.setOf[rank]!, number, rank };
  }

  /** The server that keeps the images of that set: sets go round the servers. Null: this node does, in the job's folder. */
  #keeperOf(set: number): FileService | null {
    const { dispatcher, job } = this.#options;
    const address = this.#servers[set % this.#servers.length];
    return address === undefined ? dispatcher : { name: "the checkpoint server", address, job };
  }

  #fetchedFolder(set: number): string {
    return join(this.#options.folder, `fetched-${set}`);
  }
}
