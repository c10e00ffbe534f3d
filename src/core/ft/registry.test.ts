import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { protocols } from "./registry.ts";

describe("registry of protocols", () => {
  it("gives each protocol under its own name, a new one each time", () => {
    for (const [name, make] of Object.entries(protocols)) {
      const [one, other] = [make(), make()];
      equal(one.name, name);
      ok(one !== other);
    }
  });

  it("has the baseline", () => {
    ok(Object.hasOwn(protocols, "none"));
  });

  it("knows no other names, not even those every object knows", () => {
    for (const name of ["", "None", "toString", "constructor", "__proto__", "hasOwnProperty"]) {
      equal(Object.hasOwn(protocols, name), false, name);
    }
  });
});
