/**
 * How the pages of a chunk are stored. Numbers of codecs stand in files for good: a number is never given twice.
 */
export const rawCodec = 0;

export interface Codec {
  readonly number: number;
  compress(pages: Uint8Array): Uint8Array;
  /**
   * The `bytes` bytes before compression; throws on bytes that cannot be decompressed. Only called with bytes whose checksum
   * was right.
   */
  decompress(stored: Uint8Array, bytes: number): Uint8Array;
}

/**
 * LZ4 keeps up with a disk only on data that compresses well: measured on Node 20, 0.3 to 2 GB/s where the factor is 3 or more,
 * 0.15 to 0.3 GB/s at factors of 1.3 to 2, the best that dense numeric data reaches; there a capture would wait for the
 * compression.
 */
const gainMin = 3;
const sampleBytes = 4096;

/** Decided by a sample from the middle: most chunks compress well or not at all. */
export function seemsCompressible(pages: Uint8Array, codec: Codec): boolean {
  const from = Math.max(0, (pages.length - sampleBytes) >> 1);
  const sample = pages.subarray(from, from + sampleBytes);
  return isGain(sample, codec.compress(sample));
}

/** An empty chunk is not compressed: it may have zeroed pages only. */
export function isGain(pages: Uint8Array, compressed: Uint8Array): boolean {
  return pages.length > 0 && compressed.length * gainMin <= pages.length;
}
