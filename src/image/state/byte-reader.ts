/** Reads bytes of `ByteWriter`. Bytes that a `ByteWriter` cannot have written are an error, never a wrong answer. */
import { textOfBytes } from "../../core/base/byte-text.ts";
import { StateError } from "./state-error.ts";

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  get bytesLeft(): number {
    return this.#bytes.length - this.#at;
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (bytes < 0 || at + bytes > this.#bytes.length)
      throw new StateError("Cannot read the process state: it is cut short");
    this.#at = at + bytes;
    return at;
  }

  byte(): number {
    const at = this.#take(1);
    return this.#bytes[at]!;
  }

  int(): number {
    let rest = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      rest += (byte % 128) * scale;
      if (byte < 128) break;
    }
    return rest % 2 === 0 ? rest / 2 : -(rest + 1) / 2;
  }

  double(): number {
    const at = this.#take(8);
    return this.#view.getFloat64(at, true);
  }

  bytes(): Uint8Array {
    const length = this.int();
    const at = this.#take(length);
    return this.#bytes.slice(at, at + length);
  }

  text(): string {
    return textOfBytes(this.bytes());
  }
}
