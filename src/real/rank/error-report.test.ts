import assert from "node:assert/strict";
import { test } from "node:test";
import { endingOfError } from "./error-report.ts";

// Where our own code lies: known in the bundles that we ship, not here.
Object.assign(globalThis, { __dirname: "/ours" });

const whatOf = (error: unknown): string => endingOfError(error).what;

test("X7: whatever is thrown is said in one line", () => {
  assert.equal(whatOf(new TypeError("no")), "TypeError: no");
  assert.equal(whatOf(new RangeError("")), "RangeError");
  assert.equal(whatOf(Object.assign(new Error("x"), { name: "" })), "Error: x");
  assert.equal(whatOf(Object.assign(new Error("x"), { message: undefined, stack: undefined })), "Error");
  assert.equal(whatOf({ name: "Foreign", message: "of another realm", stack: "" }), "Foreign: of another realm");
  assert.equal(whatOf(undefined), "threw undefined");
  assert.equal(whatOf(null), "threw null");
  assert.equal(whatOf(42n), "threw 42n");
  assert.equal(whatOf("two\nlines"), 'threw "two\\nlines"');
  assert.equal(whatOf(Symbol("s")), "threw Symbol(s)");
  assert.equal(whatOf({ a: [1, { b: new Map([[1, 2]]) }] }), "threw { a: [ 1, { b: [Map] } ] }");
  assert.equal(
    whatOf(() => {
      return 1;
    }),
    "threw () => {",
  );
  for (const value of [
    new Array(10_000).fill("long"),
    "x".repeat(1e6),
    new Error("x".repeat(1e6)),
    { a: "x".repeat(1e6) },
  ]) {
    assert(whatOf(value).length < 2100 && !whatOf(value).includes("\n"));
  }
});

test("X7: what throws when it is looked at is said as well", () => {
  const fail = (): never => {
    throw new Error("again");
  };
  const hostile = new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail });
  assert.equal(whatOf(hostile), "threw something that cannot be shown");
  const error = new Error("x");
  Object.defineProperty(error, "message", { get: fail });
  assert.equal(whatOf(error), "threw something that cannot be shown");
});

test("X7: the other lines of a message and its causes are details, as many as can be read", () => {
  const inner = new RangeError("inner\nmore");
  const error = new Error("\nouter\n\n  indented  \nlast\n\n", { cause: new Error("middle", { cause: inner }) });
  const { what, details } = endingOfError(error);
  assert.equal(what, "Error: outer");
  assert.deepEqual(
    details.map((line) => line.replace(/ \(\S+\)$/, "")),
    ["", "  indented", "last", "caused by Error: middle", "caused by RangeError: inner"],
  );
  const several = new AggregateError([new Error("a"), "b"], "both");
  assert.deepEqual(
    endingOfError(several).details.map((line) => line.replace(/ \(\S+\)$/, "")),
    ["one is Error: a", 'one is "b"'],
  );
  assert.equal(endingOfError(new Error("line\n".repeat(1000))).details.length, 30);
  const circular = new Error("circle");
  circular.cause = circular;
  assert.equal(endingOfError(circular).details.length, 3);
});
