/** Thrown where a program in C ends itself (`exit`, a signal, a failure of its C library), caught where it was started. */
import type { Ending } from "../core/service/ending.ts";

export class Ended extends Error {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(ending.kind);
    this.ending = ending;
  }
}
