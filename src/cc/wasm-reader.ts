/** Reads what tools for WebAssembly write, objects, modules and debug information: numbers of any length, texts. */
export class WasmReader {
  at: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get atEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.at++] ?? 0;
  }

  /** LEB128, without a sign. */
  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  /** LEB128, with a sign; numbers that fit into a double. */
  signed(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return (byte & 0x40) === 0 ? value : value - factor * 128;
    }
  }

  /** Of `count` bytes, the lowest first. */
  fixed(count: number): number {
    let value = 0;
    for (let i = 0, factor = 1; i < count; i++, factor *= 256) value += this.byte() * factor;
    return value;
  }

  text(): string {
    const length = this.number();
    const start = this.at;
    this.at += length;
    return Buffer.from(this.#bytes.subarray(start, start + length)).toString();
  }

  /** A text that a zero ends. */
  zeroEnded(): string {
    const start = this.at;
    const end = this.#bytes.indexOf(0, start);
    this.at = (end < 0 ? this.#bytes.length : end) + 1;
    return Buffer.from(this.#bytes.subarray(start, this.at - 1)).toString();
  }
}
