/**
 * Standard input for rank 0, a piece at a time. Nothing is read before the program asks for it: `while read …; do banyan
 * run …; done` keeps its own input.
 */
import type { Readable } from "node:stream";

export class InputSource {
  readonly #stream: Readable | undefined;
  readonly #send: (bytes: Uint8Array | null) => void;
  #listening = false;
  #wanted = false;
  #ended: boolean;

  constructor(stream: Readable | undefined, send: (bytes: Uint8Array | null) => void) {
    this.#stream = stream;
    this.#send = send;
    this.#ended = stream === undefined;
  }

  /** Rank 0 wants a piece; it is sent as soon as there is one. */
  want(): void {
    this.#wanted = true;
    this.#listen();
    this.#serve();
  }

  /** The job is over. The stream is its owner's again. */
  close(): void {
    this.#wanted = false;
    this.#stream?.off("readable", this.#serve).off("end", this.#end).off("error", this.#end).pause();
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#stream?.on("readable", this.#serve).on("end", this.#end).on("error", this.#end);
  }

  readonly #serve = (): void => {
    if (!this.#wanted) return;
    const bytes: Uint8Array | string | null = this.#ended ? null : this.#stream?.read();
    if (bytes === null && !this.#ended) return;
    this.#wanted = false;
    this.#send(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  };

  readonly #end = (): void => {
    this.#ended = true;
    this.#serve();
  };
}
