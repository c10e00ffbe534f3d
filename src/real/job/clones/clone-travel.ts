/**
 * The journey of one image from the node of its source to the node of the clone, as the dispatcher sees it: which node is told what, and what was
 * heard. The bytes go from node to node (real/cloning).
 */
import type { CopiedRound } from "../../cloning/messages.ts";
import type { CloneNews, ToNode } from "../../messages/node-messages.ts";
import type { Address } from "../../transport/sockets/address.ts";

interface TravelPlaces {
  readonly source: number;
  readonly sourceNode: number;
  readonly clone: number;
  readonly cloneNode: number;
}

interface WholeClone {
  readonly bytes: number;
  readonly rounds: number;
  readonly copyMs: number;
  readonly inputOffset: number;
}

export class CloneTravel {
  readonly places: TravelPlaces;
  readonly #number: number;
  readonly #send: (node: number, message: ToNode) => void;
  /** The node of the clone is there; and where the memory can be called for, null: not yet. */
  #hasDeparted = false;
  #from: readonly Address[] | null = null;
  #rounds: readonly CopiedRound[] = [];
  /** How much of standard input the source had had; −1: it is not captured. */
  #inputOffset = -1;
  /** 0: not all of it has arrived. */
  #bytes = 0;
  #departedMs = 0;
  #copyMs = 0;
  /** The node that had what has come of it is gone. */
  isLost = false;

  constructor(number: number, places: TravelPlaces, send: (node: number, message: ToNode) => void) {
    this.#number = number;
    this.places = places;
    this.#send = send;
    // Threads are started there while the node of the clone is prepared.
    send(places.sourceNode, {
      kind: "give-clone",
      rank: places.source,
      number,
      isMoved: places.source === places.clone,
    });
  }

  /** The node of the clone is there. */
  depart(): void {
    if (this.#hasDeparted) return;
    this.#hasDeparted = true;
    this.#departedMs = performance.now();
    this.#call();
  }

  /** When both are there. */
  #call(): void {
    const { source, clone, cloneNode } = this.places;
    if (!this.#hasDeparted || this.#from === null) return;
    this.#send(cloneNode, { kind: "take-clone", rank: clone, number: this.#number, source, from: this.#from });
  }

  heard(process: number, news: Exclude<CloneNews, { kind: "failed" }>): void {
    const { source, clone } = this.places;
    if (process === source && news.kind === "listening") {
      this.#from = news.addresses;
      this.#call();
    }
    if (process === source && news.kind === "copied") this.#rounds = news.rounds;
    if (process === source && news.kind === "left") this.#rounds = [...this.#rounds, news.last];
    if (process !== clone || news.kind !== "arrived") return;
    this.#bytes = news.bytes;
    this.#copyMs = performance.now() - this.#departedMs;
  }

  captured(inputOffset: number): void {
    this.#inputOffset = inputOffset;
  }

  /** The clone can begin with it; null: it cannot yet. */
  get whole(): WholeClone | null {
    if (this.#bytes === 0 || this.#inputOffset < 0) return null;
    const rounds = this.#rounds.length;
    return { bytes: this.#bytes, rounds, copyMs: this.#copyMs, inputOffset: this.#inputOffset };
  }

  nodeEnded(node: number): void {
    if (this.#hasDeparted && node === this.places.cloneNode) this.isLost = true;
  }

  giveUp(): void {
    const { source, sourceNode, clone, cloneNode } = this.places;
    this.#send(sourceNode, { kind: "drop-clone", rank: source });
    if (this.#hasDeparted) this.#send(cloneNode, { kind: "drop-clone", rank: clone });
  }
}
