/**
 * Where views are in the memory of the process, for native calls: a number for an address takes a third less time than a view, and nothing has to
 * be made for a part of one. A buffer stays where it is as long as it lives; those that are moved to other threads are not for this.
 */
export class ViewAddresses {
  readonly #address: (bytes: Uint8Array) => bigint;
  readonly #bases = new WeakMap<ArrayBufferLike, number>();
  #last: ArrayBufferLike | null = null;
  #lastBase = 0;

  constructor(koffi: typeof import("koffi")) {
    this.#address = koffi.address;
  }

  /** Of the byte at that offset of the view. */
  of(view: Uint8Array | Int32Array, offset: number): number {
    const { buffer } = view;
    if (buffer !== this.#last) {
      this.#lastBase = this.#baseOf(buffer);
      this.#last = buffer;
    }
    return this.#lastBase + view.byteOffset + offset;
  }

  #baseOf(buffer: ArrayBufferLike): number {
    const known = this.#bases.get(buffer);
    if (known !== undefined) return known;
    const base = Number(this.#address(new Uint8Array(buffer)));
    this.#bases.set(buffer, base);
    return base;
  }
}
