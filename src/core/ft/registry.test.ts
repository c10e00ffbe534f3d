import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { protocolNamed, protocolNames } from "./protocol-named.ts";
import { protocolDefault, protocols } from "./registry.ts";

describe("registry of protocols", () => {
  it("has the baseline, which is the default, and names each protocol once", () => {
    ok(protocolNames.length > 1);
    deepEqual([...new Set(protocolNames)], protocolNames);
    equal(protocolDefault.name, "none");
    equal(protocolDefault.rank, null);
  });

  it("finds each protocol by its name", () => {
    for (const protocol of protocols) equal(protocolNamed(protocol.name), protocol);
  });

  it("knows no other names, not even those every object knows", () => {
    for (const name of ["", "None", "toString", "constructor", "__proto__", "hasOwnProperty"]) {
      equal(protocolNamed(name), undefined, name);
    }
  });

  it("every name can stand in a command, every line of help fits a terminal, and no two options share a flag", () => {
    const flags = new Map<string, string>();
    for (const { name, help, options } of protocols) {
      ok(/^[a-z][a-z0-9-]*$/.test(name), name);
      ok(help.length <= 110 && !help.includes("\n"), help);
      for (const { key, flag, form } of options) {
        ok((form.kind === "flag" ? /^--[a-z-]+$/ : /^--[a-z-]+ <\S+>$/).test(flag), flag);
        equal(flags.get(flag) ?? key, key, flag);
        flags.set(flag, key);
      }
    }
  });
});
