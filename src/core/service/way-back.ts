/**
 * Where a job of replicas goes on when it cannot go on as it is: some rank has no process any more, or replicas differ and nobody can tell who is right. Pure.
 *
 * Going back to a checkpoint helps against what has happened since. Memory that was wrong before, and had not been told of in a message, is wrong in the images too: replicas
 * that differ again before there is a newer checkpoint, or in the same message, go back to the one before.
 */
import type { Reason } from "./outcome.ts";
import type { WorldCheckpoint } from "./world-checkpoints.ts";

/** A job that has gone back to the same checkpoint so often, and came to no other, has something that kills it every time. */
const backsMax = 5;
/** So often replicas may differ in a job. */
const disputesMax = 20;

interface Return {
  /** Null: the job ends. */
  readonly to: WorldCheckpoint | null;
  /** Why it does, though there is a checkpoint; empty: there is nothing to say. */
  readonly why: string;
}

const nowhere: Return = { to: null, why: "" };

export class WayBack {
  /** The checkpoint that the job has gone back to last; 0: none. */
  #last = 0;
  #inRow = 0;
  #disputes = 0;
  #disputed = "";

  choose(reason: Reason, latest: WorldCheckpoint | null): Return {
    if (latest === null) return nowhere;
    if (reason.kind === "unusable" && reason.disputed !== undefined) return this.#fromDispute(reason.disputed, latest);
    if (!("unplayed" in reason) || reason.unplayed === undefined) return nowhere;
    this.#inRow = this.#last === latest.number ? this.#inRow + 1 : 1;
    this.#last = latest.number;
    if (this.#inRow <= backsMax) return { to: latest, why: "" };
    const why = `the job has gone back to checkpoint ${latest.number} ${backsMax} times, and came to no other: it ends; find out what kills it there, and run it again`;
    return { to: null, why };
  }

  #fromDispute(difference: string, latest: WorldCheckpoint): Return {
    if (++this.#disputes > disputesMax) {
      const why = `replicas have differed ${disputesMax} times, and the job has gone back each time: it ends; look for a machine whose memory is bad, or see banyan check-determinism`;
      return { to: null, why };
    }
    const hasNotHelped = this.#last !== 0 && (difference === this.#disputed || latest.number === this.#last);
    let to: WorldCheckpoint | null = latest;
    if (hasNotHelped) while (to !== null && to.number >= this.#last) to = to.earlier;
    this.#disputed = difference;
    if (to === null) {
      const why = `the job has gone back to checkpoint ${this.#last}, the oldest that is kept, and replicas differ again: it ends; no checkpoint that all agree on is left`;
      return { to: null, why };
    }
    this.#last = to.number;
    this.#inRow = 1;
    return { to, why: "" };
  }
}
