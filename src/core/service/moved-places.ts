/**
 * Where the processes of a job are after some of its ranks have been moved, in a job that stands still for that and goes on in new processes: any rank may go to any
 * node, alone or with those beside it. A node that has lost its last rank is no longer one: its machine may go, and the nodes behind it count one less.
 *
 * Nobody but `banyan move` changes a placement. Programs do not see it: they see the node map (core/process/node-map.ts), which stays.
 */
import { type Placement, placementOf } from "./placement.ts";

export interface Places {
  /** Those that the job began with; numbers behind them are of processes that it may spawn. */
  readonly ranks: number;
  readonly nodes: number;
  readonly placement: Placement;
  /** By node: which of the processes that the job has started for nodes it is, from 1. A command that starts nodes knows its machine by that. */
  readonly starts: readonly number[];
  /** How many processes have been started for nodes. */
  readonly started: number;
}

export interface PlaceOrder {
  /** A node, with all its ranks; or a rank alone. */
  readonly moved: { readonly kind: "node"; readonly node: number } | { readonly kind: "rank"; readonly rank: number };
  /** A node that is there, or the next number: one that is started. Null: one that is started. */
  readonly onto: number | null;
  /** So many processes have room on a node. */
  readonly ofNodeMax: number;
}

interface PlacesAfter {
  readonly places: Places;
  /** Those that are moved. */
  readonly ranks: readonly number[];
  /** Their node afterwards. */
  readonly node: number;
  /** That has no rank any more and goes; null: there is none. */
  readonly emptied: number | null;
}

/** Or the obstacle. */
export function placesAfter(before: Places, { moved, onto, ofNodeMax }: PlaceOrder): PlacesAfter | string {
  const { ranks, nodes, placement } = before;
  const from = moved.kind === "node" ? moved.node : placement[moved.rank]!;
  const beside = [...placement.keys()].filter((rank) => rank < ranks && placement[rank] === from);
  const going = moved.kind === "node" ? beside : [moved.rank];
  const isWhole = going.length === beside.length;
  if (onto !== null && onto > nodes) return `the job has ${nodesText(nodes)}, and node ${nodes} can be started`;
  if (onto === from) return `${moved.kind === "node" ? "its ranks are" : "it is"} on node ${onto} already`;
  // A process that takes the place of the node: all that is there has its number.
  if (isWhole && (onto === null || onto === nodes)) {
    const starts = before.starts.with(from, before.started + 1);
    return { places: { ...before, starts, started: before.started + 1 }, ranks: going, node: from, emptied: null };
  }
  const to = onto ?? nodes;
  const changed = placement.map((node, process) => {
    if (process < ranks) return going.includes(process) ? to : node;
    // Nobody is spawned on a node that goes.
    return isWhole && node === from ? to : node;
  });
  if (changed.filter((node) => node === to).length > ofNodeMax) return `node ${to} has no room for more ranks`;
  const isNew = to === nodes;
  const places: Places = {
    ranks,
    nodes: isNew ? nodes + 1 : nodes,
    placement: placementOf(changed),
    starts: isNew ? [...before.starts, before.started + 1] : before.starts,
    started: before.started + (isNew ? 1 : 0),
  };
  if (!isWhole) return { places, ranks: going, node: to, emptied: null };
  return { places: without(places, from), ranks: going, node: to > from ? to - 1 : to, emptied: from };
}

function without(places: Places, gone: number): Places {
  return {
    ...places,
    nodes: places.nodes - 1,
    placement: placementOf(places.placement.map((node) => (node > gone ? node - 1 : node))),
    starts: places.starts.filter((_, node) => node !== gone),
  };
}

const nodesText = (nodes: number): string => (nodes === 1 ? "node 0 alone" : `nodes 0 to ${nodes - 1}`);
