/**
 * What ranks tell each other about a collective (inquiries.ts), and what an answer proves. Pure functions of the two calls.
 */
import type { WorldRank } from "../base/brand.ts";
import { UNDEFINED } from "../base/constants.ts";
import { ErrorClass, type ErrorCode, MpiError } from "../base/mpi-error.ts";
import {
  type CollectiveCall,
  differenceOf,
  refusedKind,
  textOf,
  unknownKind,
  unlike,
} from "../coll/engine/collective-call.ts";
import type { Communicator } from "./communicator.ts";

export const InquiryStep = {
  QUESTION: 0,
  /** In it, by messages. */
  EXCHANGING: 1,
  /** In it, at the gate of a board. */
  AT_BOARD: 2,
  /** It is over here, well or not; nothing of it is sent or received any more. */
  PASSED: 3,
  /** The program is over, and has not come to it. */
  NEVER: 4,
  /** The program is blocked in another call, which cannot end without the rank that asks. */
  ELSEWHERE: 5,
  /** Of circles of ranks that wait for each other: the sender is blocked in the call, and cannot leave it without the receiver. */
  CHASE: 6,
  /** The circle of a chase is closed, and the sender has ended its call. */
  CLOSED: 7,
  /** It has freed the communicator, and nothing on it is under way any more. */
  FREED: 8,
} as const;
export type InquiryStep = (typeof InquiryStep)[keyof typeof InquiryStep];

export const unknownCall: CollectiveCall = { kind: unknownKind, root: unlike, bytes: unlike };
export const noMessages = { sends: 0, receives: 0 };

/** What a rank says about a collective, to one other rank. */
export interface Answer extends CollectiveCall {
  readonly step: InquiryStep;
  /** How many messages it sends to that rank in all, and receives from it; of ELSEWHERE context and number of the other call. */
  readonly sends: number;
  readonly receives: number;
  /**
   * With which error it was given up; 0: it was not. Only of PASSED. Of ELSEWHERE, where only some members take part in the other call:
   * its number among those that the two ranks have in common.
   */
  readonly error: ErrorCode;
}

/** The rest of a question, which has the same words. */
export const noAnswer: Answer = { step: InquiryStep.QUESTION, ...unknownCall, ...noMessages, error: 0 };

interface Verdict {
  readonly error: ErrorCode;
  /** What is wrong, and at which rank. */
  readonly text: string;
}

/** Null: what they say proves nothing. `way`: how this rank is in it; `messages`: how many it exchanges with that one. */
export function verdictOn(
  mine: CollectiveCall,
  theirs: Answer,
  way: InquiryStep,
  messages: typeof noMessages,
): Verdict | null {
  const { step, error } = theirs;
  if (step === InquiryStep.NEVER)
    return { error: ErrorClass.OTHER, text: "has come to the end of its program without it" };
  if (step === InquiryStep.FREED) return { error: ErrorClass.OTHER, text: "has freed the communicator without it" };
  if (step === InquiryStep.ELSEWHERE) {
    return { error: ErrorClass.OTHER, text: `waits for this rank in ${textOf(theirs)}` };
  }
  if (theirs.kind === refusedKind)
    return { error: ErrorClass.OTHER, text: "called it with arguments that were refused" };
  // Members of a board meet whatever they called, and see then what was wrong.
  if (step === InquiryStep.AT_BOARD && way === InquiryStep.AT_BOARD) return null;
  const difference = differenceOf(mine, theirs);
  if (difference !== null) return { error: errorOf(difference), text: `called ${textOf(theirs)}` };
  if (step === InquiryStep.PASSED) {
    if (error !== 0) return { error, text: "has given it up" };
    const isKnown = theirs.kind !== unknownKind;
    const text = "has ended it without a message that this rank waits for";
    return { error: isKnown ? ErrorClass.TRUNCATE : ErrorClass.OTHER, text };
  }
  if (step !== way) {
    const form =
      step === InquiryStep.AT_BOARD
        ? "its blocking form, this rank another"
        : "another form, this rank the blocking one";
    return { error: ErrorClass.OTHER, text: `called ${form}` };
  }
  if (theirs.sends === messages.receives && theirs.receives === messages.sends) return null;
  const wanted = `this rank sends it ${messages.sends} and waits for ${messages.receives}`;
  return {
    error: ErrorClass.TRUNCATE,
    text: `sends this rank ${theirs.sends} messages and waits for ${theirs.receives}, ${wanted}`,
  };
}

function errorOf(difference: "kind" | "root" | "bytes"): ErrorCode {
  if (difference === "bytes") return ErrorClass.TRUNCATE;
  return difference === "root" ? ErrorClass.ROOT : ErrorClass.OTHER;
}

export function disagreement(
  comm: Communicator,
  source: WorldRank,
  mine: CollectiveCall,
  { error, text }: Verdict,
): MpiError {
  const rank = comm.peers.rankOf(source);
  const culprit = rank === UNDEFINED ? `rank ${comm.group.rankOf(source)} of this group` : `rank ${rank}`;
  return new MpiError(error, `Cannot complete ${textOf(mine)}: ${culprit} ${text}`);
}
