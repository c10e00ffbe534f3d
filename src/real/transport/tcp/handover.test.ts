import assert from "node:assert/strict";
import { test } from "node:test";
import { Handover, newHandover } from "./handover.ts";

test("M8 handover: a descriptor is never taken for that of another connection", () => {
  const handover = new Handover(newHandover({ processes: 1, ranks: 4 }));
  assert.equal(handover.generation(0, 3), 0);
  handover.give(0, 3, 17, 1);
  const generation = handover.generation(0, 3);
  assert.equal(handover.fd(0, 3, generation), 17);
  // The second connection arrives after the rank has read the generation of the first.
  const version = handover.version(0);
  handover.give(0, 3, 18, 2);
  assert.equal(handover.fd(0, 3, generation), -1);
  assert.notEqual(handover.version(0), version, "and the rank looks again");
  assert.equal(handover.fd(0, 3, handover.generation(0, 3)), 18);
});
