import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { ProcessNames } from "../report/process-names.ts";
import { ReturnedReplicas } from "./returned-replicas.ts";

const facts = { source: 0, bytes: 8, rounds: 1, copyMs: 1, pauseMs: 1 };

function returned(): { replicas: ReturnedReplicas; notes: string[] } {
  const notes: string[] = [];
  const names = new ProcessNames([0, 1].flatMap((replica) => [0, 1, 2].map((rank) => ({ rank, replica }))));
  return { replicas: new ReturnedReplicas({ note: (text) => notes.push(text), names }), notes };
}

test("D2 those that have come back together are told together, but for those that are lost again", () => {
  const { replicas, notes } = returned();
  for (const process of [3, 4, 5]) replicas.died(process);
  for (const process of [5, 4, 3]) replicas.came(process, { rank: process - 3, replica: 1, ...facts, spare: 2 });
  replicas.died(4);
  deepEqual(replicas.untold, [3, 5]);
  deepEqual([...replicas.everLost], [3, 4, 5]);
  replicas.tell([2]);
  equal(notes.length, 1);
  match(notes[0]!, /^replica 1 of ranks 0 and 2 came back, \d+\.\d\d s after the loss, on spare 2$/);
  deepEqual(replicas.untold, []);
  equal(replicas.all.length, 3);
});
