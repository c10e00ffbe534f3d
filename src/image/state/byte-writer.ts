/** Numbers, texts and bytes one after another, in an array that grows. Little-endian on every machine. */
import { bytesOfText } from "../../core/base/byte-text.ts";

/** Up to this length a loop is faster than the encoder. */
const shortMax = 40;

/** The bytes of names, of which a state has few, each of them often; most states are saved by code that is not compiled yet, where a loop over characters is slow. */
const nameBytes = new Map<string, Uint8Array>();
/** Far more than there are: beyond them nothing is remembered. */
const namesMax = 4096;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are one byte
const isAscii = /^[\x00-\x7f]*$/;

export class ByteWriter {
  #bytes = new Uint8Array(4096);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  #room(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }

  byte(value: number): void {
    const at = this.#room(1);
    this.#bytes[at] = value;
  }

  /** An integer of any sign; small ones are short. */
  int(value: number): void {
    // Zigzag: the sign becomes the lowest bit. Arithmetic, not bits, because numbers go up to 2^53.
    let rest = value < 0 ? -2 * value - 1 : 2 * value;
    while (rest >= 128) {
      this.byte((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    this.byte(rest);
  }

  double(value: number): void {
    const at = this.#room(8);
    this.#view.setFloat64(at, value, true);
  }

  bytes(value: Uint8Array): void {
    this.int(value.length);
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
  }

  text(value: string): void {
    if (value.length > shortMax || !isAscii.test(value)) {
      this.bytes(bytesOfText(value));
      return;
    }
    this.int(value.length);
    const at = this.#room(value.length);
    for (let i = 0; i < value.length; i++) this.#bytes[at + i] = value.charCodeAt(i);
  }

  /** The same as `text`, for the names of classes and fields and of objects of the world: they are remembered. */
  name(value: string): void {
    let bytes = nameBytes.get(value);
    if (bytes === undefined) {
      const written = new ByteWriter();
      written.text(value);
      bytes = written.done();
      if (nameBytes.size < namesMax) nameBytes.set(value, bytes);
    }
    const at = this.#room(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** So many bytes that are 0. */
  zeros(count: number): void {
    // Nothing was there before: an array is new when it grows.
    this.#room(count);
  }

  /** A copy of the bytes written so far. */
  done(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}
