/**
 * What happened in a simulated world, as a running hash (64 bits in two lanes) that two runs of one seed must share byte for
 * byte, and, when somebody listens, as lines to read.
 */
export class Trace {
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;
  events = 0;
  /** Gets one line for each event; null: no line is made. */
  readonly listener: ((line: string) => void) | null;

  constructor(listener: ((line: string) => void) | null = null) {
    this.listener = listener;
  }

  note(timeNs: number, what: string, numbers: readonly number[]): void {
    this.events++;
    this.#mix(timeNs | 0);
    this.#mix((timeNs / 0x100000000) | 0);
    for (let i = 0; i < what.length; i++) this.#mix(what.charCodeAt(i));
    for (const number of numbers) this.#mix(number);
    this.listener?.(`${String(timeNs).padStart(12)} ${what} ${numbers.join(" ")}`);
  }

  get hash(): string {
    const lane = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
    return lane(this.#high) + lane(this.#low);
  }

  #mix(word: number): void {
    this.#low = Math.imul(this.#low ^ word, 0x01000193);
    this.#low ^= this.#low >>> 15;
    this.#high = Math.imul(this.#high + word, 0x85ebca6b);
    this.#high ^= this.#high >>> 13;
  }
}
