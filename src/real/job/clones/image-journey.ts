/**
 * The image of a source on its way to where its clone will be: from node to node (`CloneTravel`), or in the job's folder (`CloneImages`). And when the source stopped for
 * it, and how long it stood still. One image is on its way at a time.
 */
import type { CloneAttempt } from "../../../core/service/clone-schedule.ts";
import type { CloneNews } from "../../messages/node-messages.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { ArrivedImage } from "./clone-beginnings.ts";
import type { CloneImages } from "./clone-images.ts";
import { type ClonePlaces, imageNumberOf } from "./clone-places.ts";
import { CloneTravel } from "./clone-travel.ts";

interface ImageJourneyParts {
  readonly nodes: Pick<JobNodes, "send">;
  readonly places: ClonePlaces;
  readonly images: CloneImages;
}

export class ImageJourney {
  readonly #parts: ImageJourneyParts;
  /** From node to node; null: nothing is. */
  #travel: CloneTravel | null = null;
  #arrived: ArrivedImage | null = null;
  #stoppedMs = 0;
  #pauseMs = 0;

  constructor(parts: ImageJourneyParts) {
    this.#parts = parts;
  }

  get arrived(): ArrivedImage | null {
    return this.#arrived;
  }

  /** When the last source stopped. */
  get stoppedMs(): number {
    return this.#stoppedMs;
  }

  /** How long it stood still. */
  get pauseMs(): number {
    return this.#pauseMs;
  }

  /** The source stands still. */
  stopped(): void {
    this.#stoppedMs = performance.now();
  }

  /** The image is taken. */
  captured(attempt: CloneAttempt, inputOffset: number): void {
    const { places, images } = this.#parts;
    this.#pauseMs = performance.now() - this.#stoppedMs;
    if (this.#travel === null) return;
    // The folder that was made for it: nothing is in it.
    images.remove(places.sourceOf(attempt), imageNumberOf(attempt));
    this.#travel.captured(inputOffset);
  }

  // From node to node

  /** The memory of the source shall go to the node of the clone, when that is there. */
  begin(attempt: CloneAttempt): void {
    const { nodes, places } = this.#parts;
    const source = places.sourceOf(attempt);
    this.#travel = new CloneTravel(
      imageNumberOf(attempt),
      {
        source,
        sourceNode: places.nodeOf(source),
        clone: places.cloneOf(attempt),
        cloneNode: places.cloneNodeOf(attempt),
      },
      (node, message) => nodes.send(node, message),
    );
  }

  get isFromNodeToNode(): boolean {
    return this.#travel !== null;
  }

  /** That node is there. */
  depart(): void {
    this.#travel?.depart();
  }

  nodeEnded(node: number): void {
    this.#travel?.nodeEnded(node);
  }

  /** What has come of it is gone. */
  get isLost(): boolean {
    return this.#travel?.isLost === true;
  }

  heard(process: number, news: Exclude<CloneNews, { kind: "failed" }>): void {
    this.#travel?.heard(process, news);
  }

  /** Has it just arrived whole? */
  arrives(attempt: CloneAttempt): boolean {
    const whole = this.#travel?.whole ?? null;
    if (whole === null || this.#arrived !== null) return false;
    this.#arrived = { attempt, ...whole };
    return true;
  }

  // In the job's folder

  /** It is there, and is brought to where the clone finds it. Returns the obstacle; empty: it has arrived. */
  bring(attempt: CloneAttempt, inputOffset: number): string {
    const { places, images } = this.#parts;
    const way = { source: places.sourceOf(attempt), clone: places.cloneOf(attempt), number: imageNumberOf(attempt) };
    const bytes = images.move(way);
    if (typeof bytes === "string") return bytes;
    const copyMs = performance.now() - this.#stoppedMs;
    this.#arrived = { attempt, bytes, rounds: 1, copyMs, inputOffset };
    return "";
  }

  // Its end

  /** The clone has begun with it. */
  over(): void {
    this.#arrived = null;
    this.#travel = null;
  }

  giveUp(): void {
    this.#travel?.giveUp();
    this.over();
  }
}
