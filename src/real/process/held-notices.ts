/**
 * A rank may die right after a collective that it has come through, and others may still be in it: nothing of the dead is missing there, and some turns
 * later all are through. A notice of a death ends whatever the dead is a member of, so a process in the middle of something keeps notices
 * back for a moment, in which the others get their turns. Only a moment: where the dead is missing the wait has to end.
 *
 * Notices may come late at any time, as far as everything above is concerned.
 */

/** At least so long and so many looks, each of which gives the core to others; at most so long. */
const holdMsMin = 2;
const looksMin = 64;
const holdMsMax = 50;

export class HeldNotices {
  #sinceMs = -1;
  #looks = 0;

  /** There are notices: shall they wait? Asked again and again. */
  holds(isUnderWay: boolean, nowMs: number): boolean {
    if (this.#sinceMs < 0) this.#sinceMs = nowMs;
    const heldMs = nowMs - this.#sinceMs;
    const isLong = heldMs >= holdMsMax || (heldMs >= holdMsMin && this.#looks >= looksMin);
    if (isUnderWay && !isLong) {
      this.#looks++;
      return true;
    }
    this.#sinceMs = -1;
    this.#looks = 0;
    return false;
  }
}
