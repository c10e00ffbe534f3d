/** A stream whose entries are stable only when its test says so. */
import { InstantStream } from "./instant-stream.ts";

export class LateStream extends InstantStream {
  #stable = 0;

  override get stable(): number {
    return this.#stable;
  }

  /** The event logger acknowledges everything; false: it had done so before. */
  settle(): boolean {
    const moved = this.#stable !== this.born;
    this.#stable = this.born;
    return moved;
  }
}
