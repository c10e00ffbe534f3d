/**
 * The images of a job's set checkpoints: whether they can be read, and their removal. They lie in a folder of the job, or with
 * checkpoint servers, which read them back themselves. Images that another one builds upon stay as long as that one does.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SetSplit } from "../../../core/ft/set-split.ts";
import { folderOfCheckpoint } from "../../file-service/file-key.ts";
import { imagePath } from "../../image/image-path.ts";
import { serverFolderIn } from "../folder/job-folder.ts";
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

interface ImageBooks {
  /** The checkpoints that each one of those that are there builds upon. */
  readonly needed: Map<number, Set<number>>;
  /** Checkpoints that will not be restored, and whose images others still build upon. */
  readonly dropped: Set<number>;
}

export class SetImages {
  readonly #options: SetImagesOptions;
  readonly #ports: SetImagesPorts;
  readonly #removals = new Removals();
  readonly #books = new Map<number, ImageBooks>();

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

  /** An image of that checkpoint is stored, and builds upon images of these. */
  stored(set: number, number: number, needs: readonly number[]): void {
    const { needed } = this.#booksOf(set);
    const all = needed.get(number) ?? new Set();
    for (const older of needs) all.add(older);
    needed.set(number, all);
  }

  /** Of a job that goes on: each of these checkpoints may build upon any older one that is there. */
  found(set: number, numbers: readonly number[]): void {
    const there = numbersIn(join(this.#placeOf(set), `set-${set}`));
    for (const number of numbers.filter((each) => each > 0)) {
      const older = there.filter((each) => each < number);
      this.stored(set, number, older);
      // They are removed with the last one that may build upon them.
      for (const old of older) if (!numbers.includes(old)) this.#booksOf(set).dropped.add(old);
    }
  }

  /** A rank is a set of its own: its images are there, too. Throws the system's errors. */
  share({ set, as, rank, checkpoint: { number } }: Pick<SetSplit, "set" | "as" | "rank" | "checkpoint">): void {
    const needs = this.#booksOf(set).needed.get(number) ?? new Set();
    for (const each of [number, ...needs]) {
      const from = imagePath(join(this.#placeOf(set), `set-${set}`, `${each}`), rank);
      const folder = join(this.#placeOf(as), `set-${as}`, `${each}`);
      // Others of its set may build upon images that it does not.
      if (!existsSync(from)) continue;
      mkdirSync(folder, { recursive: true });
      rmSync(imagePath(folder, rank), { force: true });
      linkSync(from, imagePath(folder, rank));
    }
    this.stored(as, number, [...needs]);
    for (const each of needs) this.#booksOf(as).dropped.add(each);
  }

  /** Where images of that set are. */
  #placeOf(set: number): string {
    const { folder, servers } = this.#options;
    return servers === 0 ? folder : serverFolderIn(dirname(folder), set % servers);
  }

  /** The images of that checkpoint, whole or not, will not be restored any more. */
  drop(set: number, number: number): void {
    const { needed, dropped } = this.#booksOf(set);
    needed.delete(number);
    dropped.add(number);
    for (const old of [...dropped]) {
      if ([...needed.values()].some((all) => all.has(old))) continue;
      dropped.delete(old);
      this.#remove(set, old);
    }
  }

  #remove(set: number, number: number): void {
    this.#removals.remove(folderOfCheckpoint(this.#options.folder, set, number));
    this.#ports.dropped(set, number);
  }

  #booksOf(set: number): ImageBooks {
    const known = this.#books.get(set);
    if (known !== undefined) return known;
    const books: ImageBooks = { needed: new Map(), dropped: new Set() };
    this.#books.set(set, books);
    return books;
  }

  end(): void {
    this.#removals.end();
  }
}

/** Checkpoints that have a folder there. */
function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .map(Number)
      .filter((number) => Number.isSafeInteger(number));
  } catch {
    // None was taken.
    return [];
  }
}
