import assert from "node:assert/strict";
import { test } from "node:test";
import { Handover, newHandover, PeerState } from "./handover.ts";

test("M8 handover: a descriptor is never taken for that of another connection", () => {
  const handover = new Handover(newHandover({ processes: 1, ranks: 4 }));
  assert.equal(handover.generation(0, 3), 0);
  handover.give(0, 3, 17, { life: 0, generation: 1 });
  const first = { life: handover.life(0, 3), generation: handover.generation(0, 3) };
  assert.equal(handover.fd(0, 3, first), 17);
  // The second connection arrives after the rank has read the generation of the first.
  const version = handover.version(0);
  handover.give(0, 3, 18, { life: 0, generation: 2 });
  assert.equal(handover.fd(0, 3, first), -1);
  assert.notEqual(handover.version(0), version, "and the rank looks again");
  assert.equal(handover.fd(0, 3, { life: 0, generation: 2 }), 18);
});

test("L5 handover: nor for that of another life with the same number", () => {
  const handover = new Handover(newHandover({ processes: 1, ranks: 4 }));
  const old = { life: 0, generation: 1 };
  handover.give(0, 3, 17, old);
  handover.say(0, 3, PeerState.DEAD, 0);
  assert.equal(handover.state(0, 3, 0), PeerState.DEAD);
  handover.say(0, 3, PeerState.ALIVE, 1);
  assert.equal(handover.state(0, 3, 0), PeerState.DEAD, "for ever");
  assert.equal(handover.state(0, 3, 1), PeerState.ALIVE);
  handover.give(0, 3, 18, { life: 1, generation: 1 });
  assert.equal(handover.fd(0, 3, old), -1);
  assert.equal(handover.fd(0, 3, { life: 1, generation: 1 }), 18);
});
