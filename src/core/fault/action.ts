/** A fault that is due now, with every number filled in. */
import { unreachable } from "../base/assert.ts";
import { type FaultLayout, placesOf, processOf } from "./moment.ts";
import type { Fault, LinkPattern, Service, Victim } from "./plan.ts";

export type FaultAction = {
  /** Number of the plan's entry that caused the action, counted from 1. */
  readonly entry: number;
} & Deed;

export type Deed =
  /** All of the set's ranks at once; their nodes live on. */
  | { readonly kind: "kill-ranks"; readonly ranks: readonly number[] }
  | { readonly kind: "kill-node"; readonly node: number }
  | { readonly kind: "kill-service"; readonly service: Service }
  | { readonly kind: "stop-node"; readonly node: number }
  | { readonly kind: "continue-node"; readonly node: number }
  /** A link that carries nothing, or delays everything, until another action changes the link; nothing is lost. */
  | { readonly kind: "cut-link"; readonly link: Link }
  | { readonly kind: "delay-link"; readonly link: Link; readonly byMs: number }
  | { readonly kind: "restore-link"; readonly link: Link }
  /** Of the memory of that process's program; which bits follow from `seed`. */
  | { readonly kind: "flip-bits"; readonly rank: number; readonly bits: number; readonly seed: number };

/** Two nodes, the smaller number first; both directions are meant. */
export type Link = readonly [number, number];

/** Picks a living victim at random; undefined when none is alive. */
type PickLiving = (of: "rank" | "node") => number | undefined;

/** `draw`: a random number of 32 bits. */
export function deedsOf(fault: Fault, layout: FaultLayout, pick: PickLiving, draw: () => number): Deed[] {
  switch (fault.kind) {
    case "kill":
      return kill(fault.victim, layout, pick);
    case "layer-kill":
      // Ranks do it themselves.
      return [];
    case "stop": {
      const node = fault.node === "random" ? pick("node") : fault.node;
      return node === undefined ? [] : [{ kind: "stop-node", node }];
    }
    case "continue":
      return [{ kind: "continue-node", node: fault.node }];
    case "cut":
      return linksOf(fault.link, layout.nodes).map((link) => ({ kind: "cut-link", link }));
    case "delay":
      return linksOf(fault.link, layout.nodes).map((link) => ({ kind: "delay-link", link, byMs: fault.byMs }));
    case "restore":
      return linksOf(fault.link, layout.nodes).map((link) => ({ kind: "restore-link", link }));
    case "flip":
      return [{ kind: "flip-bits", rank: processOf(fault.victim, layout), bits: fault.bits, seed: draw() }];
    default:
      return unreachable(fault);
  }
}

function kill(victim: Victim, layout: FaultLayout, pick: PickLiving): Deed[] {
  switch (victim.kind) {
    case "rank":
      return [{ kind: "kill-ranks", ranks: [victim.rank] }];
    case "node":
      return [{ kind: "kill-node", node: victim.node }];
    case "set":
      return [{ kind: "kill-ranks", ranks: placesOf(victim.set, layout.setOf) }];
    case "service":
      return [{ kind: "kill-service", service: victim.service }];
    case "random": {
      const number = pick(victim.of);
      if (number === undefined) return [];
      return [victim.of === "node" ? { kind: "kill-node", node: number } : { kind: "kill-ranks", ranks: [number] }];
    }
    default:
      return unreachable(victim);
  }
}

function linksOf({ one, other }: LinkPattern, nodes: number): Link[] {
  const links: Link[] = [];
  for (let low = 0; low < nodes; low++) {
    for (let high = low + 1; high < nodes; high++) {
      const isMeant =
        (one === "*" || one === low || one === high) && (other === "*" || other === low || other === high);
      if (isMeant) links.push([low, high]);
    }
  }
  return links;
}

/** The action that ends one that lasts. */
export function undoingOf(deed: Deed): Deed | undefined {
  if (deed.kind === "stop-node") return { kind: "continue-node", node: deed.node };
  if (deed.kind === "cut-link" || deed.kind === "delay-link") return { kind: "restore-link", link: deed.link };
  return undefined;
}

/** Do both actions set the state of the same node or of the same link? Then the later one replaces the earlier one. */
export function isAboutSame(one: Deed, other: Deed): boolean {
  if ("link" in one && "link" in other) return one.link[0] === other.link[0] && one.link[1] === other.link[1];
  const isRunning = ({ kind }: Deed): boolean => kind === "stop-node" || kind === "continue-node";
  return isRunning(one) && isRunning(other) && "node" in one && "node" in other && one.node === other.node;
}
