/**
 * Inter-communicator alltoall, alltoallv and alltoallw: every rank exchanges blocks directly with every rank of the other
 * group. As in `alltoallv-pairwise.ts` rounds hold a few exchanges each, and ranks begin with different peers.
 */

import { block, Rounds, receive, send } from "../engine/rounds.ts";
import type { Blocks, InterPlace, Schedule, Step } from "../engine/schedule.ts";
import { exchangesPerRound } from "../intra/alltoallv-pairwise.ts";

export interface InterAlltoallv extends InterPlace {
  readonly sends: Blocks;
  readonly receives: Blocks;
}

export function interAlltoallvPairwise(call: InterAlltoallv): Schedule {
  const { rank, localSize, remoteSize, sends, receives } = call;
  /** Turn t pairs local rank a with remote rank b when a + b ≡ t; the two groups count alike, so both meet in turn t. */
  const turns = Math.max(localSize, remoteSize);
  const rounds = new Rounds();
  let steps: Step[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const peer = (turn - rank + turns) % turns;
    if (peer < remoteSize)
      steps.push(send(peer, block("send", sends, peer)), receive(peer, block("receive", receives, peer)));
    if ((turn + 1) % exchangesPerRound === 0 || turn === turns - 1) {
      rounds.add(...steps);
      steps = [];
    }
  }
  return rounds.schedule();
}
