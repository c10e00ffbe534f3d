/** One agreement as one member knows it: plain data. agreements.ts says how it comes about. */
import type { WorldRank } from "../base/brand.ts";
import { saves } from "../base/saved-classes.ts";
import { Group } from "../comm/group.ts";

/** The result of an agreement, the same for all members that live. */
export interface Verdict {
  /** The bitwise AND of the flags of all members. */
  readonly flags: number;
  /** So many deaths, in the order of their declarations, are agreed on. */
  readonly failures: number;
  /** PROC_FAILED when a member is among them whose death not all had acknowledged; else 0. */
  readonly error: number;
}

/** The contribution of a member. */
export interface Vote {
  readonly flags: number;
  /** Deaths it knew of. */
  readonly failures: number;
  /** Members whose death it had acknowledged: so many of the first ones. */
  readonly acknowledged: number;
}

/** The report of a member to the coordinator. */
export interface Report {
  /** The proposer of the verdict that the member has accepted last: `noEpoch`, a coordinator's place, or `decided`. */
  readonly epoch: number;
  /** Means nothing without an epoch. */
  readonly verdict: Verdict;
  readonly contribution: Vote;
  /** The member has the verdicts of all agreements before this one. */
  readonly lowest: number;
}

export const noEpoch = -1;
/** Higher than any coordinator's place: a verdict that is final. */
export const decided = 0x7fffffff;

export class Agreement {
  readonly number: number;
  /** Null: our program has not come to it yet. */
  own: Vote | null = null;
  epoch = noEpoch;
  verdict: Verdict = { flags: 0, failures: 0, error: 0 };
  /** The coordinator that has our report; −1: none. */
  reportedTo = -1;
  /** Reports of other members: this process is the coordinator, or will be when it has heard of the same deaths. */
  readonly reports = new Map<WorldRank, Report>();
  /** We are the coordinator and have made our proposal; these have accepted it. */
  isProposed = false;
  readonly accepted = new Set<WorldRank>();

  constructor(number: number) {
    this.number = number;
  }

  get isDecided(): boolean {
    return this.epoch === decided;
  }
}

/** The agreements of one communicator that a member may still ask about. The book outlives the communicator. */
export class AgreementBook {
  readonly context: number;
  /** In an order that all of them know; empty until we take part. */
  members: Group = Group.empty;
  readonly agreements = new Map<number, Agreement>();
  /** All members have the verdicts of agreements with lower numbers: these are forgotten. */
  lowest = 0;

  constructor(context: number) {
    this.context = context;
  }
}

saves({ Agreement, AgreementBook });
