/** Messages between the dispatcher and its thread for slow links. */
import type { Target } from "./delaying-proxy.ts";

/** The direction from one node to another: connections that the first one makes. */
export interface LinkDirection {
  readonly from: number;
  readonly to: number;
}

export type ToSlowLinks =
  /** The present address of a node. */
  | { readonly kind: "lead"; readonly node: number; readonly target: Target }
  /** The delay of everything between these two nodes. */
  | { readonly kind: "delay"; readonly link: readonly [number, number]; readonly delayMs: number };

/** The thread listens: the port of each direction. */
export interface FromSlowLinks {
  readonly ports: readonly (LinkDirection & { readonly port: number })[];
}
