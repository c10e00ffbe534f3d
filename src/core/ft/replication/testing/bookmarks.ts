/**
 * The bookmarks of DINO (§III) as functions: how far the lost replica B was when it was lost, how far its source B′ was when its image was taken, and what
 * that means for a rank X that speaks to the clone B″. Real channels have numbers instead of counts (rule 1) and decide one message at a time;
 * they are compared with this.
 */

/** The lost one, compared with the source. */
type Standing = "equal" | "behind" | "ahead";

/** Messages of a channel, from the first up to, but not including, the second. Empty: both are the same. */
type MessageRun = readonly [from: number, to: number];

interface Compared {
  readonly lost: Standing;
  /** Those that the source is ahead by, and those that the lost one was. */
  readonly ofSource: MessageRun;
  readonly ofLost: MessageRun;
}

function compared(lost: number, source: number): Compared {
  return {
    lost: lost === source ? "equal" : lost < source ? "behind" : "ahead",
    ofSource: [Math.min(lost, source), source],
    ofLost: [Math.min(lost, source), lost],
  };
}

interface SendsToClone {
  readonly lost: Standing;
  /** Would be sent to the lost one next, and are not: the clone has them with its image. */
  readonly suppressed: MessageRun;
  /** Were sent to the lost one, and are sent again: its source had not had them. */
  readonly again: MessageRun;
}

/** Step 2. `toLost`: sent to B; `toSource`: those that B′ has with its image. */
export function sendsToClone(toLost: number, toSource: number): SendsToClone {
  const { lost, ofSource, ofLost } = compared(toLost, toSource);
  return { lost, suppressed: ofSource, again: ofLost };
}

interface ReceivesFromClone {
  readonly lost: Standing;
  /** Will never come from the clone, which has sent them as far as it knows: they come from the source, which stands in. */
  readonly fromSource: MessageRun;
  /** Come from the clone, and are here already. */
  readonly absorbed: MessageRun;
}

/** Step 3. `fromLost`: received from B; `fromSource`: those that B′ has sent according to its image. */
export function receivesFromClone(fromLost: number, fromSource: number): ReceivesFromClone {
  const { lost, ofSource, ofLost } = compared(fromLost, fromSource);
  return { lost, fromSource: ofSource, absorbed: ofLost };
}

export const isIn = ([from, to]: MessageRun, number: number): boolean => number >= from && number < to;
