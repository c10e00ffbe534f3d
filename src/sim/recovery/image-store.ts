/**
 * Images of simulated ranks with a checkpoint server of their own failure domain. An image takes a while to be written, and whoever
 * sent it hears of it when it is. A server that crashes loses what was not written: the images on their way, of which the first
 * is there in part, and torn. It takes a while until another one has its place, and what comes meanwhile is refused.
 */
import { assert } from "../../core/base/assert.ts";

export interface ImageName {
  readonly set: number;
  /** Of the set's checkpoints. */
  readonly number: number;
  readonly rank: number;
}

interface Upload<I> {
  readonly name: ImageName;
  readonly image: I;
  readonly answer: (problem: string) => void;
}

export class SimImageStore<I> {
  /** By name; null: torn. */
  readonly #images = new Map<string, I | null>();
  readonly #uploads = new Set<Upload<I>>();
  #isUp = true;
  /** Images that a crash has left torn. */
  torn = 0;

  /** An image is on its way. The answer, empty if all is well, comes when `acknowledged` or `crash` is called. */
  upload(upload: Upload<I>): void {
    if (this.#isUp) this.#uploads.add(upload);
    else upload.answer("the checkpoint server cannot be reached");
  }

  /** All of it has arrived and is on the disk. */
  written(upload: Upload<I>): void {
    if (this.#uploads.has(upload)) this.#images.set(keyOf(upload.name), upload.image);
  }

  /** The node hears of it. */
  acknowledged(upload: Upload<I>): void {
    if (this.#uploads.delete(upload)) upload.answer("");
  }

  crash(): void {
    this.#isUp = false;
    const first = [...this.#uploads].find(({ name }) => !this.#images.has(keyOf(name)));
    if (first !== undefined) {
      this.#images.set(keyOf(first.name), null);
      this.torn++;
    }
    const lost = [...this.#uploads];
    this.#uploads.clear();
    for (const { answer } of lost) answer("the checkpoint server was lost");
  }

  /** Another one has its place, and what is on the disk. */
  restart(): void {
    this.#isUp = true;
  }

  /** Reads an image back: what is wrong with it, empty if nothing. */
  problemOf(name: ImageName): string {
    const image = this.#images.get(keyOf(name));
    if (image === undefined) return `there is no image of rank ${name.rank}`;
    return image === null ? `the image of rank ${name.rank} is torn` : "";
  }

  get(name: ImageName): I {
    const image = this.#images.get(keyOf(name));
    assert(image !== undefined && image !== null, `a life begins, and ${this.problemOf(name)}`);
    return image;
  }

  /** The image of a rank is one of another set, too. */
  share(name: ImageName, as: number): void {
    this.#images.set(keyOf({ ...name, set: as }), this.get(name));
  }

  drop({ set, number }: Omit<ImageName, "rank">): void {
    for (const key of this.#images.keys()) if (key.startsWith(`${set} ${number} `)) this.#images.delete(key);
  }
}

const keyOf = ({ set, number, rank }: ImageName): string => `${set} ${number} ${rank}`;
