/** One agreement as one member knows it: plain data. agreements.ts says how it comes about. */
import type { WorldRank } from "../base/brand.ts";
import { saves } from "../base/saved-classes.ts";
import { Group } from "../comm/group.ts";

/** What all members that live come to. */
export interface Verdict {
  /** Everybody's flags, bit by bit: and. */
  readonly flags: number;
  /** So many deaths, in the order of their declarations, are agreed on. */
  readonly failures: number;
  /** PROC_FAILED when a member is among them that not everybody had acknowledged; else 0. */
  readonly error: number;
}

/** What a member brings. */
export interface Contribution {
  readonly flags: number;
  /** Deaths it knew of. */
  readonly failures: number;
  /** Members whose death it had acknowledged: so many of the first ones. */
  readonly acknowledged: number;
}

/** What a member tells the coordinator. */
export interface Report {
  /** Who proposed the verdict that it has accepted last: `noEpoch`, the coordinator's place, or `decided`. */
  readonly epoch: number;
  /** Means nothing without an epoch. */
  readonly verdict: Verdict;
  readonly contribution: Contribution;
  /** It has the verdicts of all agreements before this one. */
  readonly lowest: number;
}

export const noEpoch = -1;
/** Higher than any coordinator's place: a verdict that is final. */
export const decided = 0x7fffffff;

export class Agreement {
  readonly number: number;
  /** Null: our program has not come to it yet. */
  own: Contribution | null = null;
  epoch = noEpoch;
  verdict: Verdict = { flags: 0, failures: 0, error: 0 };
  /** The coordinator who has our report, −1: nobody. */
  reportedTo = -1;
  /** What others have told us: we are the coordinator, or will be when we hear what they have heard. */
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

/** The agreements of one communicator that somebody may still ask about. It outlives the communicator. */
export class AgreementBook {
  readonly context: number;
  /** In an order that all of them know; empty until we take part. */
  members: Group = Group.empty;
  readonly agreements = new Map<number, Agreement>();
  /** Everybody has the verdicts of those before: they are forgotten. */
  lowest = 0;

  constructor(context: number) {
    this.context = context;
  }
}

saves({ Agreement, AgreementBook });
