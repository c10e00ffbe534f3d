/**
 * Sources of clones are told to stop for their images, waited for, and told to go on. A program in C stops where it is. One in TypeScript comes to a checkpoint of its
 * own, and waits there until it is told whether an image is wanted.
 */
import type { ToNode } from "../../messages/node-messages.ts";

/** What a process at its own checkpoint has been told; it goes on when it is told so. */
interface Order {
  /** Of the image. */
  readonly number: number;
  /** Has it heard of that? An order that is taken back before would not be heard at all. */
  isHeard: boolean;
}

interface CloneSourcesOptions {
  /** Images are taken where the program says so (mpi.checkpoint), not at any call. */
  readonly isByProgram: boolean;
  /** To the node of that process. */
  send(process: number, message: ToNode): void;
}

/** How long everybody may take to answer a source, in its first attempt; twice as long in each that follows, so often. */
const patienceMs = 120_000;
const doublingsMax = 5;

export class CloneSources {
  readonly #options: CloneSourcesOptions;
  /** By process: those whose programs wait in a checkpoint. */
  readonly #orders = new Map<number, Order>();
  /** By process: how often it was asked to be a source, since a clone of it was back. */
  readonly #asked = new Map<number, number>();

  constructor(options: CloneSourcesOptions) {
    this.#options = options;
  }

  /** It shall prepare, and take an image of that number. */
  stop(process: number, number: number): void {
    const kept = { oldest: 0, newest: 0 };
    this.#options.send(process, { kind: "checkpoint", set: process, members: [process], number, kept });
  }

  /** Its program has come to a checkpoint, and waits to be told: `number` of the image, or that none is wanted. */
  order(process: number, number: number): void {
    this.#orders.set(process, { number, isHeard: false });
    this.stop(process, number);
  }

  /** It has heard its order; said again: it cannot be captured now. `isWanted`: the image of that number. */
  heard(process: number, isWanted: (number: number) => boolean): void {
    const order = this.#orders.get(process);
    if (order === undefined) return;
    if (order.isHeard || !isWanted(order.number)) this.goOn(process);
    else order.isHeard = true;
  }

  goOn(process: number): void {
    this.#orders.delete(process);
    this.#options.send(process, { kind: "go-on", set: process, members: [process] });
  }

  /** Nobody wants its image any more. One that has not heard of its order yet says when it does, and goes on then. */
  release(process: number): void {
    const mayHear = this.#orders.get(process)?.isHeard ?? !this.#options.isByProgram;
    if (mayHear) this.goOn(process);
  }

  died(process: number): void {
    this.#orders.delete(process);
  }

  /** It is asked. Others may wait for each other until the attempt is given up (`isLate`), or a rank computes for long: so each time it has longer. */
  waitFor(process: number, isLate: () => void): void {
    const before = this.#asked.get(process) ?? 0;
    this.#asked.set(process, before + 1);
    setTimeout(isLate, patienceMs * 2 ** Math.min(before, doublingsMax)).unref();
  }

  /** Its clone is back. */
  served(process: number): void {
    this.#asked.delete(process);
  }
}
