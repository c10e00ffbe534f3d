/**
 * Finds waits that nothing can end: a rank waits for another one whose program is over. Fed with looks at all ranks, some time apart.
 * A rank that is over sends nothing new, and all it has sent is with the system; a rank that waits has looked for messages again and
 * again since then and found nothing. Seen in several looks, that counts. What a rank does that computes is not known, and it is
 * never judged.
 *
 * Two cases: the rank waits for that one alone; or all ranks wait or are over, so that nothing is left that could move.
 */

/** A rank at the moment of a look. */
export interface RankInLook {
  readonly rank: number;
  readonly state: "starting" | "computing" | "waiting" | "over";
  /** Tells this wait from others of this rank. */
  readonly wait: number;
  /** How often the rank has looked for messages in it. */
  readonly polls: number;
  readonly kind: string;
  /** The rank that it waits for; negative: not one alone. */
  readonly peer: number;
  readonly isOneEnough: boolean;
  readonly isUnmatched: boolean;
  readonly isBlocked: boolean;
  readonly hasDelivered: boolean;
}

interface HopelessWait {
  /** The first that waits for nothing. */
  readonly rank: number;
  /** The rank whose program is over. */
  readonly awaited: number;
  /** How many others wait as well. */
  readonly others: number;
}

/**
 * A state that lasts from look to look counts after so many. A rank in a collective is given more: it asks the others itself, for the first time
 * after a few looks, and its call ends with an error that its program may handle (ADR 18).
 */
const looksNeeded = 3;
const looksNeededOfCollective = 8;

interface Steady {
  readonly place: RankInLook;
  readonly looks: number;
}

export class HopelessWaits {
  #steady = new Map<number, Steady>();

  /** Nothing that was seen before counts any more. */
  forget(): void {
    this.#steady = new Map();
  }

  /** All ranks that have not ended. Null: all may still go well. */
  look(places: readonly RankInLook[]): HopelessWait | null {
    const before = this.#steady;
    this.#steady = new Map(places.map((place) => [place.rank, steadyOf(place, before.get(place.rank))]));
    const isLasting = ({ rank, kind, state }: RankInLook): boolean =>
      this.#steady.get(rank)!.looks >=
      (state === "waiting" && kind === "collective" ? looksNeededOfCollective : looksNeeded);
    const isOver = (place: RankInLook): boolean => place.state === "over" && place.hasDelivered && isLasting(place);
    const isStuck = (place: RankInLook): boolean => place.state === "waiting" && place.isBlocked && isLasting(place);
    const over = places.filter(isOver);
    if (over.length === 0) return null;
    const waiting = places.filter(isStuck);
    const verdict = (rank: number, awaited: number) => ({ rank, awaited, others: waiting.length - 1 });
    for (const { rank, peer, isUnmatched, isOneEnough } of waiting) {
      const awaited = over.find((each) => each.rank === peer);
      if (awaited !== undefined && isUnmatched && !isOneEnough) return verdict(rank, peer);
    }
    const isQuiet = waiting.every(({ kind, hasDelivered }) => kind !== "other" && hasDelivered);
    const [first] = waiting;
    if (first === undefined || !isQuiet || over.length + waiting.length < places.length) return null;
    return verdict(first.rank, over[0]!.rank);
  }
}

function steadyOf(place: RankInLook, before: Steady | undefined): Steady {
  const isSame =
    before !== undefined &&
    before.place.state === place.state &&
    before.place.wait === place.wait &&
    before.place.peer === place.peer &&
    before.place.polls !== place.polls;
  return { place, looks: isSame ? before.looks + 1 : 1 };
}
