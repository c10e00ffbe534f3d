import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { ClonedReplica } from "../clones.ts";
import { replicationSummary } from "./report.ts";

const clone: ClonedReplica = {
  rank: 2,
  replica: 0,
  source: 1,
  bytes: 5_000_000,
  rounds: 3,
  copyMs: 40,
  pauseMs: 7.6,
  afterMs: 310,
  spare: 1,
};

test("D6 the summary says what clones took, together for those on one spare", () => {
  const clones: readonly ClonedReplica[] = [
    clone,
    { ...clone, rank: 3, bytes: 7_000_000, rounds: 2, pauseMs: 9.4, afterMs: 620 },
    { ...clone, replica: 1, source: 0, spare: 0, rounds: 1 },
  ];
  deepEqual(replicationSummary({ ranks: [], dead: 3, finished: 8, job: undefined, clones }), [
    "3 replicas lost",
    "replica 0 of ranks 2, 3 came back (cloned from replica 1 onto spare 1, 12 MB in 3 rounds, paused for 9 ms, back after 620 ms)",
    "replica 1 of rank 2 came back (cloned from replica 0, 5.0 MB in 1 round, paused for 8 ms, back after 310 ms)",
  ]);
});
