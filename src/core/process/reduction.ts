/** An operation on a datatype, as collectives see it: bytes in, bytes out. Made by the layers that know both. */
import type { Views } from "../comm/views.ts";

export interface Reduction {
  /** Elements are never split; a reduction of n bytes is one of n / elementBytes elements. */
  readonly elementBytes: number;
  /** into = left ∘ right for `count` elements at byte offsets of one memory; `into` may be `left` or `right`. */
  apply(memory: Views, left: number, right: number, into: number, count: number): void;
}
