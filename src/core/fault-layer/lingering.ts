/** Requests that the program has given back before the base was done with them, or before they were over: they go on without it. */
import type { RecordId } from "../base/brand.ts";
import type { Leftover } from "../binding/finish-later.ts";
import type { Operations } from "../binding/operations.ts";

export class Lingering {
  readonly #base: Operations;
  /** Over for the program: the base alone decides. */
  readonly #ended = new Set<RecordId>();
  /** Freed by the program before they were over, with what is left to do then. */
  readonly #freed = new Map<RecordId, { readonly leftover: Leftover | null; readonly operations: Operations }>();

  /** Called when there is something to do for `progress`. */
  readonly #stir: () => void;

  constructor(base: Operations, stir: () => void) {
    this.#base = base;
    this.#stir = stir;
  }

  get isBusy(): boolean {
    return this.#ended.size !== 0 || this.#freed.size !== 0;
  }

  /** It is over for the program. */
  end(request: RecordId): void {
    if (this.#base.isComplete(request)) {
      this.#base.end(request);
      return;
    }
    this.#ended.add(request);
    this.#stir();
  }

  /** The program does not want to hear of it; `operations` are those by which the program would. */
  free(request: RecordId, leftover: Leftover | null, operations: Operations): void {
    this.#freed.set(request, { leftover, operations });
    this.#stir();
  }

  progress(): void {
    if (!this.isBusy) return;
    const base = this.#base;
    for (const request of this.#ended) {
      if (!base.isComplete(request)) continue;
      this.#ended.delete(request);
      base.end(request);
    }
    for (const [request, { leftover, operations }] of this.#freed) {
      if (!operations.isComplete(request)) continue;
      this.#freed.delete(request);
      const bytes = operations.bytesOf(request);
      const error = operations.errorOf(request);
      operations.end(request);
      leftover?.finish(bytes, error);
    }
  }
}
