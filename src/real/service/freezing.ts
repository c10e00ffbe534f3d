/** A job that is being frozen: who stands still already, and whom the others wait for. */

/** A rank that computes for longer than this without an MPI call is named, then every `againMs`. */
const patienceMs = 2000;
const againMs = 10_000;

export interface FreezingPorts {
  note(message: string): void;
}

export class Freezing {
  readonly #waitedFor: Set<number>;
  readonly #ports: FreezingPorts;
  readonly #startMs = performance.now();
  #timer: NodeJS.Timeout;

  constructor(ranks: number, ports: FreezingPorts) {
    this.#waitedFor = new Set(Array.from({ length: ranks }, (_, rank) => rank));
    this.#ports = ports;
    this.#timer = setTimeout(() => this.#name(), patienceMs);
  }

  stopped(rank: number): void {
    this.#waitedFor.delete(rank);
    if (this.#waitedFor.size === 0) this.end();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #name(): void {
    const ranks = [...this.#waitedFor];
    const seconds = Math.round((performance.now() - this.#startMs) / 1000);
    const who = ranks.length === 1 ? `rank ${ranks[0]} has` : `ranks ${ranks.join(", ")} have`;
    this.#ports.note(`freezing: ${who} not come to an MPI call for ${seconds} s; the others wait`);
    this.#timer = setTimeout(() => this.#name(), againMs);
  }
}
