import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../base/mpi-error.ts";
import fc from "../base/testing/properties.ts";
import { Info } from "./info.ts";

test("M4 §10 Info_set, _get, _delete, _get_nkeys, _get_nthkey follow a model", () => {
  const key = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(
    fc.tuple(fc.constant("set"), key, fc.string()),
    fc.tuple(fc.constant("delete"), key, fc.constant("")),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const [info, model] = [new Info(), new Map<string, string>()];
      for (const [verb, name, value] of steps) {
        if (verb === "set") {
          info.set(name, value);
          model.set(name, value);
        } else if (model.delete(name)) info.delete(name);
        else assert.throws(() => info.delete(name), { code: ErrorClass.INFO_NOKEY });
      }
      assert.equal(info.size, model.size);
      assert.deepEqual(
        Array.from({ length: info.size }, (_, i) => info.nthKey(i)),
        [...model.keys()],
      );
      for (const name of ["a", "b", "c", "d"]) {
        assert.equal(info.get(name), model.get(name));
        assert.equal(info.has(name), model.has(name));
      }
      assert.deepEqual([...info], [...model]);
      assert.deepEqual([...info.keys()], [...model.keys()]);
      assert.deepEqual([...info.values()], [...model.values()]);
      assert.deepEqual([...info.entries()], [...model]);
    }),
  );
});

test("M4 §10 Info_dup is a copy of its own", () => {
  const info = Info.of([
    ["host", "a"],
    ["file", "b"],
  ]);
  const copy = info.dup();
  info.delete("host");
  assert.deepEqual(
    [...copy],
    [
      ["host", "a"],
      ["file", "b"],
    ],
  );
});

test("M4 §10 limits: keys of 1 to 255 bytes, values of up to 1023, counted in UTF-8", () => {
  const info = new Info();
  info.set("k".repeat(255), "v".repeat(1023));
  info.set("é".repeat(127), "");
  assert.throws(() => info.set("k".repeat(256), ""), { code: ErrorClass.INFO_KEY });
  assert.throws(() => info.set("é".repeat(128), ""), { code: ErrorClass.INFO_KEY });
  assert.throws(() => info.set("", ""), {
    code: ErrorClass.INFO_KEY,
    message: "Cannot set an info key of 0 bytes: it must have 1 to 255",
  });
  assert.throws(() => info.set("k", "😀".repeat(256)), { code: ErrorClass.INFO_VALUE });
  assert.throws(() => info.get("k".repeat(256)), { code: ErrorClass.INFO_KEY });
  assert.throws(() => info.nthKey(2), { code: ErrorClass.ARG });
  assert.throws(() => info.nthKey(-1), { code: ErrorClass.ARG });
  assert.equal(info.get("none"), undefined);
});
