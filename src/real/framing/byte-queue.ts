/** The bytes that have come from a connection and have not been taken yet. */
export class ByteQueue {
  #chunks: Buffer[] = [];
  #bytes = 0;

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The first `bytes` of them; null: there are not as many yet. Bytes that came in one chunk are not copied. */
  take(bytes: number): Buffer | null {
    if (this.#bytes < bytes) return null;
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks = all.length === bytes ? [] : [all.subarray(bytes)];
    this.#bytes = all.length - bytes;
    return all.subarray(0, bytes);
  }

  get length(): number {
    return this.#bytes;
  }
}
