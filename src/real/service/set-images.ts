/**
 * The images of a job's set checkpoints: where they are, whether they can be read, and their removal. They lie in a folder of the
 * job, or with checkpoint servers, which read them back themselves.
 */
import { join } from "node:path";
import type { Checkpoint } from "../../core/ft/checkpoint.ts";
import { fetchedFolder, folderOfCheckpoint } from "../file-service/image-key.ts";
import { imagePath } from "../node/image-path.ts";
import { Removals } from "./removals.ts";

export interface SetImagesOptions {
  /** For the images; nodes make it when the first is taken. */
  readonly folder: string;
  /** Sockets of the checkpoint servers; none: the images stay in the folder. */
  readonly checkpointServers: readonly string[];
}

interface SetImagesPorts {
  /** Reads images in the folder back: what is wrong with the first that is no good, empty if nothing. */
  verify(paths: readonly string[]): Promise<string>;
  /** Nobody will ask a server for that one any more. */
  dropped(set: number, number: number): void;
}

export class SetImages {
  readonly #options: SetImagesOptions;
  readonly #ports: SetImagesPorts;
  readonly #removals = new Removals();

  constructor(options: SetImagesOptions, ports: SetImagesPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** Where ranks find the images that they go on from; empty: they begin at the start of the program. */
  folderOf(set: number, { number }: Checkpoint): string {
    const { folder, checkpointServers } = this.#options;
    if (number === 0) return "";
    return checkpointServers.length === 0
      ? folderOfCheckpoint(folder, set, number)
      : join(fetchedFolder(folder, set), `${number}`);
  }

  /** What is wrong with the images of these ranks; empty: nothing. */
  verify(set: number, number: number, ranks: readonly number[]): Promise<string> {
    const { folder, checkpointServers } = this.#options;
    if (checkpointServers.length > 0) return Promise.resolve("");
    const images = folderOfCheckpoint(folder, set, number);
    return this.#ports.verify(ranks.map((rank) => imagePath(images, rank)));
  }

  /** Nobody needs the images of that checkpoint, or what is there of them. */
  drop(set: number, number: number): void {
    this.#removals.remove(folderOfCheckpoint(this.#options.folder, set, number));
    this.#ports.dropped(set, number);
  }

  end(): void {
    this.#removals.end();
  }
}
