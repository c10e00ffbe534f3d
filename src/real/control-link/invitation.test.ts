import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { decodeInvitation, encodeInvitation, type Invitation } from "./invitation.ts";

const invitation: Invitation = {
  host: "127.0.0.1",
  port: 4711,
  jobId: "a job",
  secret: Uint8Array.from(randomBytes(32)),
  number: 3,
  had: 0,
};

test("X7: an invitation is a line, and is read as it was written", () => {
  const line = encodeInvitation(invitation);
  assert.equal(line.indexOf("\n"), line.length - 1);
  assert.deepEqual(decodeInvitation(line), invitation);
});

test("X7: what is no invitation is none", () => {
  const others = {
    "no JSON": "hello",
    nothing: "",
    "a list": "[]",
    "a short secret": encodeInvitation({ ...invitation, secret: Uint8Array.of(1) }),
    "no port": encodeInvitation({ ...invitation, port: 0 }),
    "a port beyond all": encodeInvitation({ ...invitation, port: 65_536 }),
    "a number below all": encodeInvitation({ ...invitation, number: -1 }),
    "something more": encodeInvitation({ ...invitation, more: 1 } as Invitation),
  };
  for (const [what, line] of Object.entries(others)) assert.equal(decodeInvitation(line), null, what);
});
