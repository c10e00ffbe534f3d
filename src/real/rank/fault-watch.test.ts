import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { watchCalls } from "./fault-watch.ts";

test("X3: a rank that is watched reports its n-th call and MPI_Init, before they do anything", () => {
  const seen: string[] = [];
  const answers = [5, 2, 0];
  let isRepeated = false;
  const mpi: Record<string, () => number> = {
    MPI_Init: () => seen.push("init"),
    MPI_Send: () => seen.push("send"),
  };
  watchCalls(
    mpi,
    { rank: 0, call: 4, init: true },
    {
      say: ({ call }) => seen.push(`at ${call}`),
      standStill: () => answers.shift()!,
      isRepeated: () => isRepeated,
    },
  );
  mpi["MPI_Init"]!();
  for (let call = 2; call <= 3; call++) mpi["MPI_Send"]!();
  isRepeated = true;
  mpi["MPI_Send"]!();
  isRepeated = false;
  for (let call = 4; call <= 6; call++) mpi["MPI_Send"]!();
  // After MPI_Init the fifth mattered; what matters after that lies behind already.
  deepEqual(seen, ["at 0", "init", "send", "send", "send", "send", "at 5", "send", "send"]);
});
