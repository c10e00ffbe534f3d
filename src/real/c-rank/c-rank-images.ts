/** The images of one C rank: the one that the rank goes on from, and those that are taken of the rank. */
import { join } from "node:path";
import { roleOf } from "../../core/base/players.ts";
import { sentInSet } from "../../core/process/sent-in-set.ts";
import { ImageError } from "../../image/image-error.ts";
import { booksUsed, ImageHistory } from "../../image/image-history.ts";
import type { PageStage } from "../../image/page-stage.ts";
import { StateError } from "../../image/state/state-error.ts";
import type { Library } from "../../wasi/ports.ts";
import type { ArrivedClone, LastLook } from "../cloning/messages.ts";
import { imagePath } from "../image/image-path.ts";
import { type ImageContents, newStage, writeImageNow, writeImagePart } from "../image/write-image.ts";
import type { CaptureFacts } from "../messages/rank-messages.ts";
import { checkpointOf } from "../transport/layout.ts";
import {
  type CRankSavedState,
  type ImageOptions,
  imageOf,
  moduleHash,
  rangesOf,
  readLife,
  takeLife,
} from "./c-image.ts";
import type { WaitingCRank } from "./waiting-c-rank.ts";

export class CRankImages {
  readonly #rank: WaitingCRank;
  readonly #life: CRankSavedState;
  readonly #library: Library;
  readonly #module: Uint8Array;
  /** Of the module; empty until an image is read or taken. */
  #hash = "";
  /** Where pages are looked at, and what is known of those in earlier images; null until the first checkpoint. */
  #stage: PageStage | null = null;
  readonly #history = new ImageHistory();

  constructor(rank: WaitingCRank, life: CRankSavedState, library: Library, module: Uint8Array) {
    this.#rank = rank;
    this.#life = life;
    this.#library = library;
    this.#module = module;
  }

  /** Fills the new process. */
  read(folder: string): void {
    const { process } = this.#rank;
    this.#orSay(() => readLife(process, this.#life, this.#library, this.#imageIn(folder)));
  }

  /** The same for a clone whose memory is filled. */
  take({ header, state }: ArrivedClone): void {
    const { process } = this.#rank;
    this.#orSay(() => takeLife(process, this.#life, this.#library, { header, state, options: this.#imageIn("") }));
  }

  #orSay(restore: () => void): void {
    const { process, setup } = this.#rank;
    try {
      restore();
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
    const sent = this.#sent(number);
    const facts = { number, position, callsPassed, inputOffset: input.offset, settledMs, sent };
    const { recovery } = this.#rank.setup;
    const isCloned = recovery !== null && (protocol?.cloning ?? null) !== null;
    let needs: readonly number[] = [];
    let problem = "";
    // Its memory is looked at while the state is saved, which does not change it.
    if (isCloned) this.#rank.say({ kind: "last-look", number, look: this.#lastLook() });
    try {
      const where = this.#imageIn(this.#folderOf(number));
      const path = imagePath(where.folder, where.rank);
      const image = imageOf(rank, this.#life, this.#library, where);
      if (isCloned) {
        const { header, state } = image;
        this.#rank.say({ kind: "last-part", ...facts, needs, last: { kind: "last-part", header, state } });
        return;
      }
      // Where nobody is started again alone, images are those of all at once.
      if (recovery === null) writeImageNow(path, image);
      else needs = this.#writePart(path, number, image);
    } catch (error) {
      if (!isUnusable(error)) throw error;
      problem = error.message;
    }
    if (problem === "" && recovery !== null) this.#rank.say({ kind: "captured", ...facts, needs });
    else this.#rank.say({ kind: "image", problem, ...facts, needs });
  }

  /** To the others of its set, where there are any. */
  #sent(checkpoint: number): CaptureFacts["sent"] {
    const { recovery, replicas } = this.#rank.setup;
    if (recovery === null || replicas !== null || checkpoint === 0) return [];
    return sentInSet(this.#rank.process.process, recovery.setOf);
  }

  #lastLook(): LastLook {
    // What the data plane has counted in that memory is taken from there now, not later.
    this.#rank.process.process.rememberNumbers();
    return { kind: "last-look", ranges: rangesOf(this.#rank.process, this.#life) };
  }

  /** Only what has changed since an earlier image, where that is worth it. Returns the checkpoints that the image builds upon. */
  #writePart(path: string, number: number, image: ImageContents): readonly number[] {
    this.#stage ??= newStage(image.memory, { books: booksUsed, isLive: false });
    const { needs, ...how } = this.#history.plan(this.#rank.process.host.kept);
    const progress = writeImagePart(path, image, { stage: this.#stage, ...how });
    this.#history.written({ number, ...progress });
    return needs;
  }

  /** The hash takes a millisecond or two: only ranks with images pay for it, once. */
  #imageIn(folder: string): ImageOptions {
    const { rank, ranks, folders, recovery } = this.#rank.setup;
    if (this.#hash === "") this.#hash = moduleHash(this.#module);
    // A clone goes on from the image of another process that plays its rank.
    const { rank: role } = roleOf(this.#rank.setup);
    return { rank, role, ranks, program: this.#hash, folder, folders, isFrozen: recovery === null };
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
