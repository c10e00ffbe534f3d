/**
 * The observations of every rank, as a running hash, and the value of that hash when a message was sent and when its receiver took it. A
 * message whose receiver has seen another history of its sender than the one that counts in the end is an orphan.
 *
 * Replay overwrites: what a life did that was rolled back does not count any more, unless another rank has seen it.
 */
import type { EngineTracer } from "../../core/p2p/engine.ts";
import type { Witness } from "../interpreter/script-state.ts";
import { mixed } from "../script/mixed-number.ts";

/** Contexts of the program's own messages are even: those of collectives are sent whenever their turn comes. */
const isOfProgram = (context: number): boolean => (context & 1) === 0;

export class Histories {
  /** The present life of each rank. Suspects have lives of their own beside those. */
  readonly #lives: { now: number }[];
  readonly #sent = new Map<string, number>();
  readonly #sentBySuspects = new Map<string, number>();
  readonly #taken = new Map<string, number>();

  constructor(ranks: number) {
    this.#lives = Array.from({ length: ranks }, (_, rank) => ({ now: rank }));
  }

  now(rank: number): number {
    return this.#lives[rank]!.now;
  }

  /** A life begins, at the start of the program or with what an image knew. */
  begin(rank: number, history = rank): void {
    this.#lives[rank] = { now: history };
  }

  /** For the present life of a rank, also when it has become a suspect. */
  witness(rank: number): Pick<Witness, "observe" | "history"> {
    const life = this.#lives[rank]!;
    return {
      observe: (...numbers) => {
        life.now = mixed(life.now, ...numbers);
      },
      history: () => life.now,
    };
  }

  observe(rank: number, ...numbers: readonly number[]): void {
    this.witness(rank).observe(...numbers);
  }

  /** Of the present life of a rank. What a suspect takes is forgotten; what it sends counts where no later life has sent it yet. */
  tracer(rank: number, isSuspect = (): boolean => false): EngineTracer {
    const life = this.#lives[rank]!;
    return {
      sent: (dest, _tag, _bytes, sequence, context) => {
        if (!isOfProgram(context)) return;
        const sent = isSuspect() ? this.#sentBySuspects : this.#sent;
        sent.set(key(rank, dest, sequence), life.now);
      },
      matched: (source, _tag, _bytes, sequence, context) => {
        if (!isOfProgram(context) || isSuspect()) return;
        const name = key(source, rank, sequence);
        this.#taken.set(name, this.#sent.get(name) ?? this.#sentBySuspects.get(name) ?? -1);
      },
    };
  }

  /** Messages whose receiver has seen another history than the sender's. */
  disagreements(): string[] {
    return [...this.#taken].filter(([name, history]) => this.#sent.get(name) !== history).map(([name]) => name);
  }
}

const key = (from: number, to: number, sequence: number): string => `message ${sequence} from rank ${from} to ${to}`;
