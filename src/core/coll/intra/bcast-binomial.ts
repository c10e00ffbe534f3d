/**
 * Binomial broadcast: the message goes down a binomial tree, ⌈log2 p⌉ messages deep, p − 1 messages of n bytes in all. Best
 * for short messages; a rank passes all of them on at once, widest subtree first.
 */

import { Rounds, receive, region, send } from "../engine/rounds.ts";
import type { RootedPlace, Schedule } from "../engine/schedule.ts";
import { binomialNode } from "./binomial-tree.ts";

export function bcastBinomial({ bytes, ...place }: RootedPlace & { readonly bytes: number }): Schedule {
  const { parent, children } = binomialNode(place);
  const buffer = region("receive", 0, bytes);
  const rounds = new Rounds();
  if (parent >= 0) rounds.signal(receive(parent, buffer));
  return rounds.signal(...children.map((child) => send(child.rank, buffer))).schedule();
}
