/** The words of replicas about their operations while one of them goes on elsewhere (ADR 79). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Told } from "../../../request/decisions.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import { ReplicatedOperations } from "./replicated-operations.ts";

/** One of two replicas of rank 0, and what it has told the other one. */
function replicaOf(replica: number): { operations: ReplicatedOperations; told: Told[] } {
  const told: Told[] = [];
  const ports = { tell: (_: unknown, words: Told) => void told.push(words) } as unknown as ProtocolPorts;
  return { operations: new ReplicatedOperations(ports, { rank: 0, replica }, 2, 3), told };
}

const carry = (from: { told: Told[] }, sender: number, to: ReplicatedOperations): void => {
  for (const { a, b, c } of from.told.splice(0)) to.hear(sender, a, b ?? 0, c ?? 0);
};

test("D5 a performer that has gone on elsewhere asks another replica when that knows it, and performs", () => {
  const [performer, other] = [replicaOf(0), replicaOf(1)];
  assert.equal(performer.operations.ask().kind, "perform");
  performer.operations.begin(0, 3, true);
  assert.deepEqual(performer.told, [], "an answer would be for the life before");
  assert.equal(performer.operations.isReady, false);
  other.operations.returned(0);
  performer.operations.met(1);
  carry(performer, 0, other.operations);
  carry(other, 1, performer.operations);
  assert.equal(performer.operations.ask().kind, "perform");
});

test("D5 a performer that has gone on elsewhere does not wait for a replica that dies before it knows it", () => {
  const { operations, told } = replicaOf(0);
  operations.begin(0, 3, true);
  operations.died(1);
  assert.equal(operations.ask().kind, "perform");
  assert.deepEqual(told, []);
});
