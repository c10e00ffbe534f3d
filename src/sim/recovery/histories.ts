/**
 * What every rank has observed, as a running hash, and what it was when a message was sent and when its receiver took it. A
 * message whose receiver has seen another history of its sender than the one that counts in the end is an orphan.
 *
 * Replay overwrites: what a life did that was rolled back does not count any more, unless another rank has seen it.
 */
import type { EngineTracer } from "../../core/p2p/engine.ts";
import { mixed } from "../script/mixed-number.ts";

/** Contexts of the program's own messages are even: those of collectives are sent whenever their turn comes. */
const isOfProgram = (context: number): boolean => (context & 1) === 0;

export class Histories {
  readonly #now: number[];
  readonly #sent = new Map<string, number>();
  readonly #taken = new Map<string, number>();

  constructor(ranks: number) {
    this.#now = Array.from({ length: ranks }, (_, rank) => rank);
  }

  now(rank: number): number {
    return this.#now[rank]!;
  }

  /** A life begins, at the start of the program or with what an image knew. */
  begin(rank: number, history = rank): void {
    this.#now[rank] = history;
  }

  observe(rank: number, ...numbers: readonly number[]): void {
    this.#now[rank] = mixed(this.#now[rank]!, ...numbers);
  }

  tracer(rank: number): EngineTracer {
    return {
      sent: (dest, _tag, _bytes, sequence, context) => {
        if (isOfProgram(context)) this.#sent.set(key(rank, dest, sequence), this.#now[rank]!);
      },
      matched: (source, _tag, _bytes, sequence, context) => {
        if (!isOfProgram(context)) return;
        const name = key(source, rank, sequence);
        this.#taken.set(name, this.#sent.get(name) ?? -1);
      },
    };
  }

  /** Messages whose receiver has seen another history than the sender's. */
  disagreements(): string[] {
    return [...this.#taken].filter(([name, history]) => this.#sent.get(name) !== history).map(([name]) => name);
  }
}

const key = (from: number, to: number, sequence: number): string => `message ${sequence} from rank ${from} to ${to}`;
