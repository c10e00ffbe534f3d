/** Images of sources that travel in the job's folder: the clone finds its own where a rank of its number would. */
import { linkSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { folderOfCheckpoint } from "../../file-service/file-key.ts";
import { imagePath } from "../../image/image-path.ts";

interface ImageWay {
  readonly source: number;
  readonly clone: number;
  readonly number: number;
}

export class CloneImages {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** From the source's place to the clone's. Its size; a text: it cannot be moved. */
  move({ source, clone, number }: ImageWay): number | string {
    const [from, to] = [this.#pathOf(source, number), this.#pathOf(clone, number)];
    try {
      if (from === to) return statSync(to).size;
      mkdirSync(dirname(to), { recursive: true });
      linkSync(from, to);
      this.remove(source, number);
      return statSync(to).size;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #pathOf(process: number, number: number): string {
    return imagePath(folderOfCheckpoint(this.#folder, process, number), process);
  }

  remove(process: number, number: number): void {
    rmSync(folderOfCheckpoint(this.#folder, process, number), { recursive: true, force: true });
  }
}
