/** Between the dispatcher and its thread for slow links. */
import type { Target } from "./delaying-proxy.ts";

/** The way from one node to another: connections that the first one makes. */
export interface Way {
  readonly from: number;
  readonly to: number;
}

export type ToSlowLinks =
  /** That node is to be found there now. */
  | { readonly kind: "lead"; readonly node: number; readonly target: Target }
  /** All between these two takes so much longer. */
  | { readonly kind: "delay"; readonly link: readonly [number, number]; readonly delayMs: number };

/** It listens: the port of each way. */
export interface FromSlowLinks {
  readonly ports: readonly (Way & { readonly port: number })[];
}
