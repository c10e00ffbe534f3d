/**
 * Where a channel memory writes: records of words (core/service-channel/service-store.ts has their frames), in segments. All that was
 * written can be read again, and a segment of which nothing is needed any more is dropped: so the memory of the process is bounded, and the
 * disk is given back.
 *
 * Every segment begins with records that say all that the memory knows beside messages and events, so that no segment is needed for
 * the sake of another.
 */
export interface SegmentStore {
  /** A segment begins: words that are appended go there. Numbers rise by one. */
  begin(segment: number): void;
  /**
   * Writes the parts, one behind the other, behind all other words of the present segment. When this returns they outlive the process;
   * a process that is lost meanwhile leaves any number of the first bytes.
   */
  append(parts: readonly Int32Array[]): void;
  /** The same for the first words of an array, so many, where that is better: each small message is written so. */
  appendFirst?(words: Int32Array, count: number): void;
  /** Words of a segment from an index on, which have been written. */
  read(segment: number, at: number, into: Int32Array): void;
  /** Of a segment that a process before this one has written: what stands from that byte on is none of its words. */
  cut(segment: number, byte: number): void;
  /** Nothing of that segment is needed any more. It is not the present one. */
  drop(segment: number): void;
}

/** A segment that a process before this one has written: its contents in pieces of any size, each valid until the next is asked for. */
export interface WrittenSegment {
  readonly number: number;
  readonly pieces: Iterable<Uint8Array>;
}
