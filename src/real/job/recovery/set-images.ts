/**
 * The images of a job's set checkpoints: whether they can be read, and their removal. They lie in a folder of the job, or with
 * checkpoint servers, which read them back themselves.
 */
import { folderOfCheckpoint } from "../../file-service/file-key.ts";
import { imagePath } from "../../image/image-path.ts";
import { Removals } from "./removals.ts";

export interface SetImagesOptions {
  /** For the images; it is made when the first is taken. */
  readonly folder: string;
  /** How many checkpoint servers there are; 0: the images are in the folder. */
  readonly servers: number;
}

interface SetImagesPorts {
  /** Reads images in the folder back: what is wrong with the first that is no good, empty if nothing. */
  verify(paths: readonly string[]): Promise<string>;
  /** No server will be asked for that checkpoint any more. */
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

  /** Returns the problem with the images of these ranks; empty: none. */
  verify(set: number, number: number, ranks: readonly number[]): Promise<string> {
    const { folder, servers } = this.#options;
    if (servers > 0) return Promise.resolve("");
    const images = folderOfCheckpoint(folder, set, number);
    return this.#ports.verify(ranks.map((rank) => imagePath(images, rank)));
  }

  /** The images of that checkpoint, whole or not, are not needed any more. */
  drop(set: number, number: number): void {
    this.#removals.remove(folderOfCheckpoint(this.#options.folder, set, number));
    this.#ports.dropped(set, number);
  }

  end(): void {
    this.#removals.end();
  }
}
