/**
 * Where views are in the memory of the process, for native calls: a number for an address takes a third less time than a view, and nothing has to
 * be made for a part of one. A buffer stays where it is as long as it lives; those that are moved to other threads are not for this.
 */
export class ViewAddresses {
  readonly #address: (bytes: Uint8Array) => bigint;
  /** By view, not by buffer alone: to ask a view for its buffer is a call of the runtime. */
  readonly #ofViews = new WeakMap<Uint8Array | Int32Array, number>();
  readonly #ofBuffers = new WeakMap<ArrayBufferLike, number>();
  #last: Uint8Array | Int32Array | null = null;
  #lastAddress = 0;

  constructor(koffi: typeof import("koffi")) {
    this.#address = koffi.address;
  }

  /** Of the byte at that offset of the view. */
  of(view: Uint8Array | Int32Array, offset: number): number {
    if (view !== this.#last) {
      this.#lastAddress = this.#addressOf(view);
      this.#last = view;
    }
    return this.#lastAddress + offset;
  }

  #addressOf(view: Uint8Array | Int32Array): number {
    const known = this.#ofViews.get(view);
    if (known !== undefined) return known;
    const address = this.#addressOfBuffer(view.buffer) + view.byteOffset;
    this.#ofViews.set(view, address);
    return address;
  }

  #addressOfBuffer(buffer: ArrayBufferLike): number {
    const known = this.#ofBuffers.get(buffer);
    if (known !== undefined) return known;
    const address = Number(this.#address(new Uint8Array(buffer)));
    this.#ofBuffers.set(buffer, address);
    return address;
  }
}
