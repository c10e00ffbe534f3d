import assert from "node:assert/strict";
import { test } from "node:test";
import { gatesFor, isOpen, type RestoreGate, restored, waitUntilOpen } from "./restore-gate.ts";

function gateOf(gates: (rank: number) => RestoreGate | null, rank: number): RestoreGate {
  const gate = gates(rank);
  assert(gate !== null);
  return gate;
}

test("rule 11: ranks of a group wait until the last of them has its memory again", () => {
  const gates = gatesFor([0, 1, 2, 3], (rank) => rank % 2);
  const even = gateOf(gates, 0);
  assert.equal(gates(2), even);
  restored(even);
  assert(!isOpen(even));
  restored(even);
  assert(isOpen(even));
  waitUntilOpen(even);
  assert(!isOpen(gateOf(gates, 1)), "another group's ranks are waited for by nobody here");
});

test("rule 11: a rank without an image waits for nobody, and nobody waits for it", () => {
  const gates = gatesFor([0, 1], (rank) => (rank === 0 ? null : 7));
  assert.equal(gates(0), null);
  restored(gateOf(gates, 1));
  assert(isOpen(gateOf(gates, 1)));
});
