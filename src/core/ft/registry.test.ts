import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { InstantStream } from "./logging/instant-stream.ts";
import { protocols } from "./registry.ts";

describe("registry of protocols", () => {
  it("gives each protocol under its own name", () => {
    for (const [name, make] of Object.entries(protocols)) {
      const options = { rank: 0, setOf: new Int32Array(2), stream: new InstantStream() };
      equal(typeof make(options), "function", name);
    }
  });

  it("has the baseline and message logging", () => {
    for (const name of ["none", "logging"]) ok(Object.hasOwn(protocols, name));
  });

  it("knows no other names, not even those every object knows", () => {
    for (const name of ["", "None", "toString", "constructor", "__proto__", "hasOwnProperty"]) {
      equal(Object.hasOwn(protocols, name), false, name);
    }
  });
});
