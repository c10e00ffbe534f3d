/** A job that is being frozen: the ranks that stand still already, those that the others wait for, and the images written. */

/** A rank that computes for longer than this without an MPI call is named, then every `againMs`. */
const patienceMs = 2000;
const againMs = 10_000;

interface FreezingPorts {
  note(message: string): void;
  /** All ranks have said how their images went; `problem` is the first, empty if there was none. */
  written(problem: string): void;
}

export class Freezing {
  readonly #waitedFor: Set<number>;
  readonly #unwritten: Set<number>;
  readonly #ports: FreezingPorts;
  readonly #startMs = performance.now();
  #timer: NodeJS.Timeout;
  #problem = "";
  #isOver = false;

  constructor(ranks: number, ports: FreezingPorts) {
    this.#waitedFor = new Set(Array.from({ length: ranks }, (_, rank) => rank));
    this.#unwritten = new Set(this.#waitedFor);
    this.#ports = ports;
    this.#timer = setTimeout(() => this.#name(), patienceMs);
  }

  stopped(rank: number): void {
    this.#waitedFor.delete(rank);
    if (this.#waitedFor.size === 0) this.end();
  }

  image(rank: number, problem: string): void {
    this.#unwritten.delete(rank);
    this.#problem ||= problem;
    if (this.#unwritten.size === 0) this.#over();
  }

  /** A rank is dead: it will not stop, and the others wait for it. */
  died(rank: number): void {
    this.#problem ||= `rank ${rank} has died`;
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.end();
    this.#ports.written(this.#problem);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #name(): void {
    const ranks = [...this.#waitedFor];
    const seconds = Math.round((performance.now() - this.#startMs) / 1000);
    const late =
      ranks.length === 1
        ? `rank ${ranks[0]} has not stopped for ${seconds} s: it comes to no MPI call`
        : `ranks ${ranks.join(", ")} have not stopped for ${seconds} s: they, or ranks that share their threads, come to no MPI call`;
    this.#ports.note(`freezing: ${late}; the others wait`);
    this.#timer = setTimeout(() => this.#name(), againMs);
  }
}
