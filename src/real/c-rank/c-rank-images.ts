/** The images of one C rank: the one that the rank goes on from, and those that are taken of the rank. */
import { join } from "node:path";
import { ImageError } from "../../image/image-error.ts";
import { StateError } from "../../image/state/state-error.ts";
import type { Library } from "../../wasi/ports.ts";
import { checkpointOf } from "../transport/layout.ts";
import { type CRankSavedState, copyImage, hashOf, type ImageOptions, readLife, takeImage } from "./c-image.ts";
import type { WaitingCRank } from "./waiting-c-rank.ts";

export class CRankImages {
  readonly #rank: WaitingCRank;
  readonly #life: CRankSavedState;
  readonly #library: Library;
  readonly #module: Uint8Array;
  /** Of the module; empty until an image is read or taken. */
  #hash = "";
  /** For copies that the node writes while the program goes on. */
  #shadow: WebAssembly.Memory | null = null;

  constructor(rank: WaitingCRank, life: CRankSavedState, library: Library, module: Uint8Array) {
    this.#rank = rank;
    this.#life = life;
    this.#library = library;
    this.#module = module;
  }

  /** Fills the new process. */
  read(folder: string): void {
    const { process, setup } = this.#rank;
    try {
      readLife(process, this.#life, this.#library, this.#imageIn(folder));
    } catch (error) {
      const checkpoint = setup.recovery?.restart?.checkpoint ?? 0;
      if (checkpoint === 0 || !isUnusable(error)) throw error;
      // The set of the rank will begin again with an older image; this life is over.
      this.#rank.say({ kind: "image-unreadable", checkpoint, problem: error.message });
      process.host.settle(() => false);
    }
  }

  /**
   * Nothing is under way in the job: writes the image and reports the result. The rank stands still until all have; then the
   * node says whether the rank ends or, where an image could not be written, goes on. Nobody loses a run to a full disk.
   */
  write(settledMs: number): void {
    const { process: rank, input } = this.#rank;
    const number = checkpointOf(rank.host.wanted);
    const { protocol } = rank.process;
    const [position, callsPassed] = [protocol?.captured(number) ?? 0, protocol?.callsPassed ?? 0];
    const facts = { number, position, callsPassed, inputOffset: input.offset, settledMs };
    const where = this.#imageIn(this.#folderOf(number));
    let problem = "";
    try {
      const shadow = number === 0 ? null : this.#shadowMemory();
      if (shadow !== null) {
        const image = copyImage(rank, this.#life, this.#library, where, shadow);
        this.#rank.say({ kind: "captured", ...facts, image });
        return;
      }
      takeImage(rank, this.#life, this.#library, where);
    } catch (error) {
      if (!isUnusable(error)) throw error;
      problem = error.message;
    }
    this.#rank.say({ kind: "image", problem, ...facts });
  }

  /** The hash takes a millisecond or two: only ranks with images pay for it, once. */
  #imageIn(folder: string): ImageOptions {
    const { rank, ranks, folders } = this.#rank.setup;
    if (this.#hash === "") this.#hash = hashOf(this.#module);
    return { rank, ranks, program: this.#hash, folder, folders };
  }

  /** Null: there is no room for a copy, and the program waits until the image is written. */
  #shadowMemory(): WebAssembly.Memory | null {
    const pages = this.#rank.process.memory.memory.buffer.byteLength / 65536;
    try {
      this.#shadow ??= new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    return this.#shadow;
  }

  /** The folder of the frozen job, or of a checkpoint of the rank's set. */
  #folderOf(checkpoint: number): string {
    const { recovery, freezeTo, rank } = this.#rank.setup;
    if (recovery === null || checkpoint === 0) return freezeTo;
    return join(recovery.checkpointFolder, `set-${recovery.setOf[rank]}`, String(checkpoint));
  }
}

const isUnusable = (error: unknown): error is ImageError | StateError =>
  error instanceof ImageError || error instanceof StateError;
