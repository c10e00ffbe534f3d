/**
 * Which images of a process the next one can build upon: an image with a base holds only the pages that have changed since its base.
 *
 * Two checkpoints are kept, so that one may turn out to be unreadable (core/service/checkpoint-server.ts). Therefore an image is never
 * based on the newest one, but on the one before: there are two chains of images, which have no file in common, and a damaged file
 * leaves the other chain whole. Each chain has a book of the pages of its last image (page-stage.ts).
 *
 * A chain begins anew with a whole image when it is long, when its images together are larger than a whole one would be, or when so much
 * of the memory changes that nothing is gained.
 */
import { assert } from "../core/base/assert.ts";
import type { ImageBase } from "./header.ts";

/** Images that are laid onto a whole one: each is another file that a restore reads. */
export const linksMax = 8;
export const booksUsed = 2;

/** Checkpoints that count and are kept; 0 is the beginning of the program. */
interface KeptCheckpoints {
  readonly oldest: number;
  readonly newest: number;
}

/** How the next image is to be made. */
interface ImagePlan {
  readonly book: number;
  /** Null: the image is whole. */
  readonly base: ImageBase | null;
  /** The checkpoints that the image builds upon, oldest first. */
  readonly needs: readonly number[];
}

interface WrittenImage {
  readonly number: number;
  readonly pages: number;
  readonly present: number;
  readonly changed: number;
  readonly chain: bigint;
}

/** The last image whose pages a book has. */
interface Last {
  readonly number: number;
  readonly chain: string;
  readonly needs: readonly number[];
  /** Pages in the chain's images with a base, all together, and in the whole one. */
  readonly laidPages: number;
  readonly wholePages: number;
  /** More than half of the pages had changed since the image before. */
  readonly isBusy: boolean;
}

interface Planned {
  readonly plan: ImagePlan;
  /** The image that the planned one is laid onto; null: none. */
  readonly onto: Last | null;
  /** The book had no pages. */
  readonly isNew: boolean;
}

export class ImageHistory {
  readonly #last: (Last | null)[] = Array.from({ length: booksUsed }, () => null);
  #plan: Planned | null = null;

  /** For the next image. The book is written from now on: until `written` it belongs to no image. */
  plan({ oldest, newest }: KeptCheckpoints): ImagePlan {
    const continued = this.#last.findIndex((last) => last !== null && last.number === oldest);
    const book = continued >= 0 ? continued : this.#last.findIndex((last) => last?.number !== newest);
    assert(book >= 0, "one of two books does not have the newest image");
    const last = this.#last[book]!;
    this.#last[book] = null;
    const isNew = last === null;
    const isWorth = continued >= 0 && !isNew && isWorthLaying(last);
    if (!isWorth) return this.#planned({ plan: { book, base: null, needs: [] }, onto: null, isNew });
    const { number, chain, needs } = last;
    const plan = { book, base: { number, chain }, needs: [...needs, number] };
    return this.#planned({ plan, onto: last, isNew });
  }

  /** The image of the last plan is in its file. */
  written({ number, pages, present, changed, chain }: WrittenImage): void {
    const planned = this.#plan;
    assert(planned !== null, "an image is planned before it is written");
    this.#plan = null;
    const { plan, onto, isNew } = planned;
    this.#last[plan.book] = {
      number,
      chain: chain.toString(16),
      needs: plan.needs,
      laidPages: onto === null ? 0 : onto.laidPages + pages,
      wholePages: onto === null ? pages : onto.wholePages,
      // Every page is new to an empty book.
      isBusy: !isNew && changed * 2 > present,
    };
  }

  #planned(planned: Planned): ImagePlan {
    this.#plan = planned;
    return planned.plan;
  }
}

function isWorthLaying({ needs, laidPages, wholePages, isBusy }: Last): boolean {
  return needs.length < linksMax && laidPages <= wholePages && !isBusy;
}
