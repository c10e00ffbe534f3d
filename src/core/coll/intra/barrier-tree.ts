/**
 * Half barriers over a binomial tree, p − 1 signals each: `barrierFanIn` ends at the root when all ranks have entered,
 * `barrierFanOut` releases all ranks. Between the two the root may wait for more than its own ranks: the hierarchical and the
 * inter-communicator barriers are built of these.
 */

import { Rounds, signalFrom, signalTo } from "../engine/rounds.ts";
import type { RootedPlace, Schedule } from "../engine/schedule.ts";
import { binomialNode } from "./binomial-tree.ts";

export function barrierFanIn(place: RootedPlace): Schedule {
  const { parent, children } = binomialNode(place);
  const rounds = new Rounds().signal(...children.map((child) => signalFrom(child.rank)));
  if (parent >= 0) rounds.signal(signalTo(parent));
  return rounds.schedule();
}

export function barrierFanOut(place: RootedPlace): Schedule {
  const { parent, children } = binomialNode(place);
  const rounds = new Rounds();
  if (parent >= 0) rounds.signal(signalFrom(parent));
  return rounds.signal(...children.map((child) => signalTo(child.rank))).schedule();
}
