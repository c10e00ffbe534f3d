import assert from "node:assert/strict";
import { test } from "node:test";
import { ANY_SOURCE, ANY_TAG } from "../../../core/base/constants.ts";
import { NO_PEER } from "../../../core/process/awaited.ts";
import { createPlaceWords, type RankPlace, readPlace } from "../../messages/whereabouts.ts";
import { ProcessNames } from "./process-names.ts";
import { type RankStanding, whereaboutsTable } from "./whereabouts-table.ts";

const place: RankPlace = {
  ...readPlace(createPlaceWords(), { rank: 0, nowMs: 0 }),
  state: "waiting",
  peer: NO_PEER,
  forMs: 3_100,
};
const names = new ProcessNames();
const at = (rank: number, given: Partial<RankPlace>): RankStanding => {
  const of = { ...place, ...given, rank };
  return { rank, node: rank >> 1, state: of.state, place: of };
};

test("M8: the table of waiting ranks", () => {
  const table = whereaboutsTable(
    [
      at(0, { state: "computing", forMs: 200 }),
      at(1, { call: "MPI_Recv", kind: "receive", peer: 0, tag: 5, comm: "MPI_COMM_WORLD" }),
      at(2, {
        call: "MPI_Waitany",
        kind: "receive",
        peer: ANY_SOURCE,
        tag: ANY_TAG,
        comm: "row",
        requests: 3,
        isOneEnough: true,
      }),
      at(3, { call: "MPI_Send", kind: "send", peer: 2, tag: 1, comm: "row" }),
      at(4, { call: "MPI_Barrier", kind: "collective", comm: "MPI_COMM_WORLD" }),
      at(5, { state: "over", hasEnded: true }),
      at(6, { state: "over" }),
      { rank: 7, node: 3, state: "finished", place: null },
      { rank: 8, node: 4, state: "unknown", place: null },
    ],
    names,
  );
  assert.deepEqual(table, [
    "  rank  node  state                       call          peer                          tag  communicator    since",
    "  0     0     computing                                                                                    0.20 s",
    "  1     0     waiting                     MPI_Recv      rank 0                        5    MPI_COMM_WORLD  3.10 s",
    "  2     1     waiting                     MPI_Waitany   any rank (one of 3 requests)  any  row             3.10 s",
    "  3     1     waiting                     MPI_Send      to rank 2                     1    row             3.10 s",
    "  4     2     waiting                     MPI_Barrier   other members                      MPI_COMM_WORLD  3.10 s",
    "  5     2     has ended, others have not                                                                   3.10 s",
    "  6     3     waiting                     MPI_Finalize  all                                                3.10 s",
    "  7     3     finished",
    "  8     4     its node does not answer",
  ]);
});

test("M8: of many ranks, those that do the same share a line", () => {
  const many = Array.from({ length: 100 }, (_, rank) =>
    rank === 50
      ? at(rank, { state: "computing", forMs: 100 })
      : at(rank, { call: "MPI_Barrier", kind: "collective", comm: "MPI_COMM_WORLD", forMs: 1_000 + rank }),
  );
  assert.deepEqual(whereaboutsTable(many, names), [
    "  rank         node  state      call         peer           communicator    since",
    "  0-49, 51-99  0-49  waiting    MPI_Barrier  other members  MPI_COMM_WORLD  1.10 s",
    "  50           25    computing                                              0.10 s",
  ]);
});
