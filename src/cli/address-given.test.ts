import assert from "node:assert/strict";
import { test } from "node:test";
import { addressGiven } from "./address-given.ts";

test("V9: an address may have a port, in both versions", () => {
  const given: Record<string, [string, number | undefined]> = {
    "10.0.0.1:4000": ["10.0.0.1", 4000],
    "10.0.0.1": ["10.0.0.1", undefined],
    "machine.example:1": ["machine.example", 1],
    "[::1]:4000": ["::1", 4000],
    "[::1]": ["::1", undefined],
    "fe80::1": ["fe80::1", undefined],
  };
  for (const [text, [address, port]] of Object.entries(given))
    assert.deepEqual(addressGiven(text, "--join"), { address, port }, text);
});

test("V9: anything else is a mistake in the call, and the line says which", () => {
  for (const text of ["", ":4000", "a:b", "a:0", "a:65536", "[a", "a]:1", "[]:1"])
    assert.throws(() => addressGiven(text, "--join"), /^.*Cannot use ".*" for --join: it must be address:port/, text);
});
