/**
 * Every decision that is written to the journal of a job, as a closed union, and what each must have to be believed when it is read back.
 * A kind of record without a row in the table does not compile.
 */
import type { DispatcherRecord } from "./dispatcher-state.ts";
import type { RecoveryRecord } from "./recovery-state.ts";

/** Entries of the fault plan have fired: the plan of a job that goes on begins behind them. */
export interface FaultsFired {
  readonly kind: "faults-fired";
  /** How often each entry has. */
  readonly fired: readonly number[];
  /** How often each set had begun again. */
  readonly recoveries: readonly number[];
  /** On the clock of the plan. */
  readonly atMs: number;
}

export type JobRecord = DispatcherRecord | RecoveryRecord | FaultsFired;

type Check = (value: unknown) => boolean;
type Rows = {
  readonly [Kind in JobRecord["kind"]]: Readonly<
    Record<Exclude<keyof Extract<JobRecord, { kind: Kind }>, "kind">, Check>
  >;
};

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isFlag: Check = (value) => typeof value === "boolean";
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const listOf =
  (isEntry: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isEntry);
const oneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    typeof value === "string" && words.includes(value);
const has =
  (row: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(row).every(([field, check]) => check(value[field]));

/** For people who read the journal: no decision depends on it. */
const isReason = has({ kind: (value) => typeof value === "string" });
const isOutcome = has({ code: isCount, reason: isReason, afterMs: isTime });
const isOutcomeOrNull: Check = (value) => value === null || isOutcome(value);
const isDeath = has({ order: isCount, rank: isCount, incarnation: isCount });
/** Positions wrap. */
const isCheckpoint = has({ number: isCount, position: (value) => Number.isSafeInteger(value) });
const isNumberOfSet = { set: isCount, number: isCount };
const isCallsOfRank: Check = (value) => listOf(isCount)(value) && (value as unknown[]).length === 2;

const isWord: Check = (value) => Number.isSafeInteger(value);
const isSent = has({
  from: isCount,
  to: isCount,
  next: isWord,
  unsent: listOf(isWord),
  waiting: listOf((value) => listOf(isWord)(value) && (value as unknown[]).length === 4),
});
const isSplit = has({ set: isCount, as: isCount, rank: isCount, checkpoint: isCheckpoint, sent: listOf(isSent) });

const rows: Rows = {
  began: { nodes: isCount, ranks: isCount, placement: listOf(isCount), setOf: listOf(isCount), calendarMs: isTime },
  admitted: { ranks: listOf(isCount) },
  withdrawn: { ranks: listOf(isCount) },
  "rank-over": {
    rank: isCount,
    how: oneOf("done", "finished", "frozen", "failed"),
    code: isCount,
    outcome: isOutcomeOrNull,
  },
  "node-gone": { node: isCount },
  fall: {
    node: isCount,
    isGone: isFlag,
    deaths: listOf(isDeath),
    returns: isFlag,
    replaced: listOf(isCount),
    passed: listOf(isCallsOfRank),
    reason: isReason,
    afterMs: isTime,
    outcome: isOutcomeOrNull,
  },
  moved: { ranks: listOf(isCount), node: isCount, split: (value) => value === null || isSplit(value) },
  "node-again": { node: isCount },
  returned: { rank: isCount, incarnation: isCount },
  missed: { death: isDeath },
  "took-over": { term: isCount },
  reopened: {},
  decided: { outcome: isOutcome },
  "caught-up": { rank: isCount },
  progressed: { passed: isCallsOfRank },
  saved: { set: isCount, calls: isCount },
  excused: { node: isCount },
  "checkpoint-begun": isNumberOfSet,
  "checkpoint-committed": { set: isCount, checkpoint: isCheckpoint },
  "checkpoint-given-up": isNumberOfSet,
  "checkpoint-refused": isNumberOfSet,
  "faults-fired": { fired: listOf(isCount), recoveries: listOf(isCount), atMs: isTime },
};

export function isJobRecord(value: unknown): value is JobRecord {
  if (!isObject(value)) return false;
  const { kind } = value;
  return typeof kind === "string" && Object.hasOwn(rows, kind) && has(rows[kind as JobRecord["kind"]])(value);
}
