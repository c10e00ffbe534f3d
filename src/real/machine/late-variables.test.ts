import assert from "node:assert/strict";
import { test } from "node:test";
import { restoreLateVariables, withLateVariables, withoutLateVariables } from "./late-variables.ts";

test("X9 a node for C programs starts without variables that delay it, and its programs have them", () => {
  const environment = { HOME: "/home/me", NODE_EXTRA_CA_CERTS: "certificates.crt" };
  const started = withLateVariables(environment);
  assert.equal(started["NODE_EXTRA_CA_CERTS"], undefined);
  assert.ok(!("NODE_EXTRA_CA_CERTS" in started));
  restoreLateVariables(started);
  assert.deepEqual(started, environment);
});

test("X9 an environment without such variables stays as it is", () => {
  const started = withLateVariables({ HOME: "/home/me" });
  restoreLateVariables(started);
  assert.deepEqual(started, { HOME: "/home/me" });
});

test("X9 a service starts without them", () => {
  const environment = { HOME: "/home/me", NODE_EXTRA_CA_CERTS: "certificates.crt" };
  assert.deepEqual(withoutLateVariables(environment), { HOME: "/home/me" });
});
