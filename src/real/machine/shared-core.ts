/**
 * Does another thread want the core that this one spins on? Nobody says so: another job on the machine, or another program. But a yield says it: it
 * comes back at once where nobody else wants the core, and after a switch there and back otherwise. Two jobs that spin on the same
 * cores would each hold the core until their patience ends, while the message that they wait for is to be sent by a thread which waits for that core.
 */

/** Yields of ping-pongs, two jobs on 2 cores: 0.5 to 5 µs, clocks and cold code included, where there is nobody else; 10 to 100 otherwise. None between. */
const switchMsMin = 0.008;

/** Yields in a row that came back at once before the core is believed to be free: the other thread may sleep for a moment. */
const freeMin = 8;

export class SharedCore {
  #free = freeMin;

  get isShared(): boolean {
    return this.#free < freeMin;
  }

  /** A yield took that long. */
  yielded(ms: number): void {
    if (ms >= switchMsMin) this.#free = 0;
    else if (this.#free < freeMin) this.#free++;
  }
}
