import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../../../core/base/testing/properties.ts";
import { type FrozenJob, frozenJobIn, jobText } from "./frozen-job.ts";

const job: FrozenJob = {
  program: "/home/u/solver.c",
  args: ["--size", "1000", ""],
  ranks: 4,
  nodes: 2,
  nodeMap: [0, 1, 0, 1],
  memoryMb: 1024,
  folders: [
    { name: ".", path: "/home/u" },
    { name: "/home/u", path: "/home/u" },
  ],
  protocol: "none",
  protocolOptions: {},
  environment: { LANG: "C", EMPTY: "" },
};
const changed = (fields: object): string => JSON.stringify({ format: 1, ...job, ...fields });

describe("X7 what is written of a frozen job", () => {
  it("comes back as it was, without what else stands there", () => {
    deepEqual(frozenJobIn(jobText(job)), job);
    deepEqual(frozenJobIn(changed({ environment: undefined })), { ...job, environment: null });
    deepEqual(frozenJobIn(changed({ nodeMap: undefined })), { ...job, nodeMap: [0, 0, 1, 1] }, "of an earlier version");
    deepEqual(frozenJobIn(changed({ more: 1, folders: [{ name: ".", path: "/", more: 1 }] })), {
      ...job,
      folders: [{ name: ".", path: "/" }],
    });
  });

  it("of another format is told by its number", () => {
    equal(frozenJobIn(changed({ format: 2, ranks: "whatever" })), 2);
  });

  it("is nothing when any field is not what it should be", () => {
    const wrong: Record<string, readonly unknown[]> = {
      format: [0, "1", null, 1.5, undefined],
      program: ["", 7, null, "a\0b", undefined],
      args: ["x", [1], [null], ["a\0"], undefined, {}],
      ranks: [0, -1, 2.5, "4", 4097, 1e9, undefined],
      nodes: [0, 5, "1", null, undefined],
      nodeMap: [null, 2, [0, 0, 1], [0, 0, 1, -1], [0, 0, 1, 4], [0, 0, 1, "1"], [0, 0, 1, 1, 1]],
      environment: ["", [], { A: 1 }, { A: null }, { "": "b" }, { "A=B": "c" }, { A: "\0" }],
      memoryMb: [15, 2048, 0.5, "1024", undefined],
      folders: [null, {}, [7], [null], [{ name: "." }], [{ path: "/" }], [{ name: "", path: "/" }], undefined]
        // Only whole names: what they are relative to, nobody knows any more.
        .concat([[{ name: ".", path: "relative" }], [{ name: ".", path: "/a\0b" }]] as never),
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values)
        equal(frozenJobIn(changed({ [field]: value })), null, `${field} ${JSON.stringify(value)}`);
    }
    for (const text of ["", "null", "[]", "7", '"job"', "{", "{}"]) equal(frozenJobIn(text), null, text);
  });

  it("is nothing, whatever else stands in the file", () => {
    fc.assert(fc.property(fc.json(), (text) => equal(frozenJobIn(text), null)));
  });
});
