/** One agreement as one member knows it: plain data. agreements.ts says how it comes about. */
import type { WorldRank } from "../base/brand.ts";
import { saves } from "../base/saved-classes.ts";
import { Group } from "../comm/group.ts";

/** The result of an agreement, the same for all members that live. */
export interface Verdict {
  /** The bitwise AND of the flags of all members that contributed. */
  readonly flags: number;
  /** So many dead members, in the order of their deaths, are agreed on: among them all that did not contribute. */
  readonly failures: number;
  /** PROC_FAILED when a member has not contributed whose death not all had acknowledged; else 0. */
  readonly error: number;
}

/** The contribution of a member, or of several. */
export interface Vote {
  readonly flags: number;
  /** Members whose death it had acknowledged: so many of the first ones. */
  readonly acknowledged: number;
}

/** The last proposal that a member has accepted, or the highest that several have. */
export interface Acceptance {
  /** The view of the proposal: `noEpoch`, a number of deaths, or `decided`. */
  readonly epoch: number;
  /** Means nothing without an epoch. */
  readonly verdict: Verdict;
}

/** The report of a member on its subtree, to its parent. */
export interface Report extends Acceptance {
  /** The member. */
  readonly source: WorldRank;
  /** Deaths of members that it knew of: they determine the tree. */
  readonly view: number;
  readonly vote: Vote;
  /** The dead whose contribution is in it: their numbers in the order of deaths. */
  readonly covered: readonly number[];
  /** All members of the subtree have the verdicts of all agreements before this one. */
  readonly lowest: number;
}

export const noEpoch = -1;
/** Higher than any view: a verdict that is final. */
export const decided = 0x7fffffff;

export class Agreement {
  readonly number: number;
  /** Null: our program has not come to it yet. */
  own: Vote | null = null;
  /** Members may have a verdict that this process has accepted no proposal of: they are asked in every view. */
  asks = false;
  /** The deaths of members that the steps below are about; −1: there has been no step. */
  view = -1;
  epoch = noEpoch;
  verdict: Verdict = { flags: 0, failures: 0, error: 0 };
  /** Those of children in this view, of children in earlier views, and of members that know of more deaths. */
  readonly reports: Report[] = [];
  /** The dead that the next report of a member covers. */
  readonly covered = new Map<WorldRank, number[]>();
  /** In this view: our report has left, or our proposal. */
  isReported = false;
  /** In this view: the places of the children whose subtrees have accepted the proposal. */
  readonly accepted = new Set<number>();
  /** In this view: the whole subtree has accepted, and the parent knows. */
  isAccepted = false;
  /** Members that want to know the verdict when there is one. */
  readonly askers = new Set<WorldRank>();

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
  /** The places of the members that have died, in the order of their deaths. */
  readonly dead: number[] = [];
  /** So many deaths of the job have been looked at for that. */
  deathsSeen = 0;
  readonly agreements = new Map<number, Agreement>();
  /** All members have the verdicts of agreements with lower numbers: these are forgotten. */
  lowest = 0;

  constructor(context: number) {
    this.context = context;
  }
}

saves({ Agreement, AgreementBook });
