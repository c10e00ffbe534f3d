/** The program's memory in the form that WASI's functions read and write. */
import { bytesOfText, textOfBytes } from "../core/base/byte-text.ts";

export class ProgramBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u32(at: number): number {
    return this.view.getUint32(at, true);
  }
  putU32(at: number, value: number): void {
    this.view.setUint32(at, value, true);
  }
  putU64(at: number, value: bigint): void {
    this.view.setBigUint64(at, value, true);
  }
  putU16(at: number, value: number): void {
    this.view.setUint16(at, value, true);
  }

  /** Nothing may be put anywhere, also where there is no memory. */
  put(at: number, bytes: Uint8Array): void {
    if (bytes.length > 0) this.bytes.set(bytes, at);
  }

  slice(at: number, length: number): Uint8Array {
    return this.bytes.subarray(at, at + length);
  }

  text(at: number, length: number): string {
    return textOfBytes(this.bytes.slice(at, at + length));
  }

  /** The pieces of a scattered buffer. */
  *pieces(list: number, count: number): Generator<Uint8Array> {
    for (let i = 0; i < count; i++) {
      const length = this.u32(list + 8 * i + 4);
      if (length > 0) yield this.slice(this.u32(list + 8 * i), length);
    }
  }

  /** Texts with closing zeros, one after the other, and a list of their addresses. */
  putTexts(texts: readonly string[], list: number, at: number): void {
    let next = at;
    for (const [i, text] of texts.entries()) {
      const encoded = bytesOfText(text);
      this.putU32(list + 4 * i, next);
      this.bytes.set(encoded, next);
      this.bytes[next + encoded.length] = 0;
      next += encoded.length + 1;
    }
  }
}

/** How many bytes `putTexts` needs. */
export function textBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + bytesOfText(text).length + 1, 0);
}
