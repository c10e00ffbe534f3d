/**
 * An image that comes as a stream, in the order in which it was made, and goes into a fresh memory as it comes: raw pages straight to their
 * places. Whoever has the stream asks where the next bytes belong, puts them there, and says how many came.
 *
 * Nothing in the stream is trusted. What the end of a file says beforehand is compared when the end is there (decoder.ts); until then the memory is of no
 * use, and after an error it never will be.
 */
import { assert } from "../core/base/assert.ts";
import { ImageDecoder } from "./decoder.ts";
import { decodeHeader, type ImageHeader } from "./header.ts";
import { checkStart, decodeHead, headBytes, ImageRecordKind, startBytes } from "./record.ts";
import { trailerBytes } from "./trailer.ts";

type Step = "start" | "head" | "body" | "end" | "over";

export class ArrivingImage {
  readonly #decoder: ImageDecoder;
  readonly #start = new Uint8Array(startBytes);
  readonly #head = new Uint8Array(headBytes);
  readonly #end = new Uint8Array(trailerBytes);
  #step: Step = "start";
  /** What is to be filled in this step, and how much of it is. */
  #places: readonly Uint8Array[] = [this.#start];
  #at = 0;
  #filled = 0;
  #state: Uint8Array | undefined;
  /** That have come. */
  bytes = 0;

  /** `memory` is fresh. */
  constructor(memory: WebAssembly.Memory) {
    this.#decoder = new ImageDecoder({ memory, codecs: [], trailer: null });
  }

  /** Where the next bytes belong; null: the image is complete. */
  get wanted(): Uint8Array | null {
    const place = this.#places[this.#at];
    if (place === undefined) return null;
    return this.#filled === 0 ? place : place.subarray(this.#filled);
  }

  /** So many bytes are there. Throws an `ImageError` for every mistake in the image. */
  took(bytes: number): void {
    const place = this.#places[this.#at];
    assert(place !== undefined && this.#filled + bytes <= place.length, "no more bytes than were wanted");
    this.bytes += bytes;
    this.#filled += bytes;
    if (this.#filled < place.length) return;
    this.#filled = 0;
    this.#at++;
    while (this.#at === this.#places.length && this.#step !== "over") this.#next();
  }

  /** Of a complete image. */
  get contents(): { readonly header: ImageHeader; readonly state: Uint8Array } {
    const { header } = this.#decoder;
    assert(this.#state !== undefined && header !== undefined, "the image is complete");
    return { header: decodeHeader(header), state: this.#state };
  }

  /** A step is over. */
  #next(): void {
    switch (this.#step) {
      case "start":
        checkStart(this.#start);
        this.#fill("head", [this.#head]);
        return;
      case "head":
        if (decodeHead(this.#head, this.bytes - headBytes).kind !== ImageRecordKind.end) {
          this.#fill("body", this.#decoder.begin(this.#head.slice()));
          return;
        }
        this.#end.set(this.#head);
        this.#fill("end", [this.#end.subarray(headBytes)]);
        return;
      case "body":
        this.#decoder.end();
        this.#fill("head", [this.#head]);
        return;
      default:
        this.#decoder.close(this.#end);
        this.#state = this.#decoder.finish();
        this.#fill("over", []);
    }
  }

  #fill(step: Step, places: readonly Uint8Array[]): void {
    this.#step = step;
    this.#places = places.filter(({ length }) => length > 0);
    this.#at = 0;
  }
}
