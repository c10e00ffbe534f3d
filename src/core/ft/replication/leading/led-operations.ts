/** Operations on files under a leader: a file is changed when no decision that led to it can be undone. */
import { lives } from "../../../base/saved-classes.ts";
import type { PerformedAnswer, PerformedEntry, SharedOperations } from "../../shared-operations.ts";

export class LedOperations implements SharedOperations {
  static readonly unsaved = { inner: null, isStable: null };
  private readonly inner: SharedOperations;
  private readonly isStable: () => boolean;

  constructor(inner: SharedOperations, isStable: () => boolean) {
    this.inner = inner;
    this.isStable = isStable;
  }

  get isReady(): boolean {
    return this.inner.isReady;
  }

  get isHeld(): boolean {
    return this.inner.isHeld;
  }

  get mayChange(): boolean {
    return this.isStable() && this.inner.mayChange;
  }

  ask(): PerformedAnswer {
    return this.inner.ask();
  }

  append(entry: PerformedEntry): void {
    this.inner.append(entry);
  }
}

lives({ LedOperations });
