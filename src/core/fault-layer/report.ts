/**
 * What members say to each other in a synchronisation: reports are merged on their way up the tree, and the root's verdict comes down again.
 * As words of a message: the number of the synchronisation, the merged fields, the dead, and whatever else the verdict carries.
 */

import { isNumberBefore } from "../process/communicator.ts";
import { addCall, callsOfWords, callWords, type RecentCall } from "./recent-collectives.ts";

/** What a member comes to a synchronisation for. Bits: a merged report has those of all members that live. */
export const Purpose = {
  /** Dead, or out because of a revocation: whatever the others do is right. */
  NONE: 0,
  /** A collective of the base follows, if all members live. */
  COLLECTIVE: 1,
  AGREE: 2,
  SHRINK: 4,
  /** The communicator ends. At the end of the program that is so for all communicators. */
  FREE: 8,
} as const;

export interface SyncReport {
  /** Bits of `Purpose`. */
  readonly purposes: number;
  /** The bitwise AND over all members that live. */
  readonly flags: number;
  /** Deaths that every member which lives has acknowledged, at least. */
  readonly acknowledged: number;
  /** Members that live. */
  readonly living: number;
  readonly isRevoked: boolean;
  /** Non-blocking collectives that each member, at least, and the one with most of them, has started. */
  readonly collectivesMin: number;
  readonly collectivesMax: number;
  /** World rank of a member with most. */
  readonly collectivesOwner: number;
  /** The number of the first collective that some member has not come to; −1: of nobody. */
  readonly firstLacked: number;
  /** The collective that members have begun while they wait for the verdict, or before they came to it: the last one. Null: none has. */
  readonly early: RecentCall | null;
  /** World ranks. */
  readonly dead: readonly number[];
}

/** Does the collective follow that all members have come for? */
export const isCarriedOut = ({ purposes, dead, isRevoked }: SyncReport): boolean =>
  purposes === Purpose.COLLECTIVE && dead.length === 0 && !isRevoked;

/** The report of nobody: merging it changes nothing. */
export const noReport: SyncReport = {
  purposes: Purpose.NONE,
  flags: -1,
  acknowledged: 0x7fffffff,
  living: 0,
  isRevoked: false,
  collectivesMin: 0x7fffffff,
  collectivesMax: -1,
  collectivesOwner: -1,
  firstLacked: -1,
  early: null,
  dead: [],
};

/** Of two numbers of collectives. */
function firstOf(one: number, other: number): number {
  if (one < 0 || other < 0) return Math.max(one, other);
  return isNumberBefore(one, other) ? one : other;
}

/** Members may be one collective apart. Whoever is behind has come to the end of its own: nobody could be in the next one otherwise. */
function lastOf(one: RecentCall | null, other: RecentCall | null): RecentCall | null {
  if (one === null || other === null) return one ?? other;
  return isNumberBefore(one.tag, other.tag) ? other : one;
}

export function merged(one: SyncReport, other: SyncReport): SyncReport {
  const hasMore = other.collectivesMax > one.collectivesMax;
  return {
    purposes: one.purposes | other.purposes,
    flags: one.flags & other.flags,
    acknowledged: Math.min(one.acknowledged, other.acknowledged),
    living: one.living + other.living,
    isRevoked: one.isRevoked || other.isRevoked,
    collectivesMin: Math.min(one.collectivesMin, other.collectivesMin),
    collectivesMax: hasMore ? other.collectivesMax : one.collectivesMax,
    collectivesOwner: hasMore ? other.collectivesOwner : one.collectivesOwner,
    firstLacked: firstOf(one.firstLacked, other.firstLacked),
    early: lastOf(one.early, other.early),
    dead: other.dead.length === 0 ? one.dead : [...one.dead, ...other.dead],
  };
}

/** The merged report of all members, in the words of the root; `extra` is for the purpose alone. */
export interface SyncVerdict extends SyncReport {
  readonly extra: readonly number[];
}

const headWords = 12;

export function wordsOfReport(number: number, report: SyncReport, extra: readonly number[] = []): number[] {
  const words = [
    number,
    report.purposes,
    report.flags,
    report.acknowledged,
    report.living,
    report.isRevoked ? 1 : 0,
    report.collectivesMin,
    report.collectivesMax,
    report.collectivesOwner,
    report.firstLacked,
    report.early === null ? 0 : 1,
    report.dead.length,
  ];
  if (report.early !== null) addCall(words, report.early);
  for (const dead of report.dead) words.push(dead);
  for (const word of extra) words.push(word);
  return words;
}

/** Null: these are no such words. */
export function verdictOfWords(
  words: readonly number[],
): { readonly number: number; readonly verdict: SyncVerdict } | null {
  const deaths = words[headWords - 1] ?? -1;
  const deadAt = headWords + (words[headWords - 2] === 1 ? callWords : 0);
  if (words.length < headWords || deaths < 0 || deadAt + deaths > words.length) return null;
  const [number, purposes, flags, acknowledged, living, revoked, ...collectives] = words as readonly [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [collectivesMin, collectivesMax, collectivesOwner, firstLacked] = collectives;
  const verdict: SyncVerdict = {
    purposes,
    flags,
    acknowledged,
    living,
    isRevoked: revoked !== 0,
    collectivesMin,
    collectivesMax,
    collectivesOwner,
    firstLacked,
    early: deadAt === headWords ? null : (callsOfWords(words.slice(headWords, deadAt))[0] ?? null),
    dead: words.slice(deadAt, deadAt + deaths),
    extra: words.slice(deadAt + deaths),
  };
  return { number, verdict };
}
