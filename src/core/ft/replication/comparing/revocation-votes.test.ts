/** D1: a revocation counts when all living replicas of a rank have told it. */
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { Membership } from "../membership.ts";
import { RevocationVotes } from "./revocation-votes.ts";

const rank = 1;
const context = 8;

function receiver() {
  const membership = new Membership([3, 3]);
  const revoked: (readonly number[])[] = [];
  const ports = { revoked: (...words: number[]): void => void revoked.push(words) };
  return { membership, revoked, votes: new RevocationVotes({ ports, membership }) };
}

test("D1 a communicator is revoked when all replicas of a rank say so, and of the same one", () => {
  const { revoked, votes } = receiver();
  votes.hear(rank, 0, context, 1);
  votes.hear(rank, 1, context, 1);
  votes.hear(rank, 2, context, 0);
  votes.hear(0, 2, context, 1);
  deepEqual(revoked, []);
  votes.hear(rank, 2, context, 1);
  deepEqual(revoked, [[rank, context, 1]]);
});

test("D1 the dead are not waited for, and what only the dead have said does not count", () => {
  const { membership, revoked, votes } = receiver();
  votes.hear(rank, 0, context, 0);
  membership.die(rank, 0);
  votes.died(rank);
  votes.hear(rank, 1, context + 2, 0);
  deepEqual(revoked, []);
  membership.die(rank, 2);
  votes.died(rank);
  deepEqual(revoked, [[rank, context + 2, 0]]);
});
