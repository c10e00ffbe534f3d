import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass } from "../base/mpi-error.ts";
import { type Attribute, AttributeSet, type DeleteOutcome, Keyvals } from "./attributes.ts";

/** Callbacks are names. Every call is noted, and the callback "stubborn" fails with code 99. */
function scene() {
  const keyvals = new Keyvals<string>();
  const calls: string[] = [];
  const callDelete = ({ keyval, value }: Attribute<string>): DeleteOutcome => {
    calls.push(`${keyval.callbacks} ${value}`);
    return keyval.callbacks === "stubborn" ? { kind: "error", code: 99 } : { kind: "done" };
  };
  const create = (name: string) => keyvals.create("communicator", name);
  return { keyvals, calls, callDelete, create, set: new AttributeSet<string>() };
}

test("M4 §7.7.2 Comm_set_attr deletes the old value first, and keeps it when that fails", () => {
  const { calls, callDelete, create, set } = scene();
  const [a, stubborn] = [create("a"), create("stubborn")];
  assert.deepEqual(set.set(a, 1, callDelete), { kind: "done" });
  assert.deepEqual(calls, []);
  set.set(a, 2, callDelete);
  assert.deepEqual(calls, ["a 1"]);
  assert.equal(set.get(a)?.value, 2);
  set.set(stubborn, 3, callDelete);
  assert.deepEqual(set.set(stubborn, 4, callDelete), { kind: "error", code: 99 });
  assert.deepEqual(set.delete(stubborn, callDelete), { kind: "error", code: 99 });
  assert.equal(set.get(stubborn)?.value, 3);
});

test("M4 §7.7.2 Comm_delete_attr", () => {
  const { calls, callDelete, create, set } = scene();
  const a = create("a");
  set.set(a, 1, callDelete);
  set.delete(a, callDelete);
  assert.deepEqual(calls, ["a 1"]);
  assert.equal(set.get(a), undefined);
  assert.throws(() => set.delete(a, callDelete), { code: ErrorClass.KEYVAL });
});

test("M4 §11.2.4 when an object goes its attributes go, last set first", () => {
  const { calls, callDelete, create, set } = scene();
  const [a, b, c] = [create("a"), create("b"), create("c")];
  for (const keyval of [a, b, c]) set.set(keyval, 1, callDelete);
  set.set(a, 2, callDelete);
  calls.length = 0;
  assert.deepEqual(set.clear(callDelete), { kind: "done" });
  assert.deepEqual(calls, ["a 2", "c 1", "b 1"]);
  assert.deepEqual(set.list(), []);
});

test("M4 §7.7.2 a delete callback that fails stops the end of its object; one may delete others", () => {
  const { calls, callDelete, create, set } = scene();
  const [a, stubborn, c] = [create("a"), create("stubborn"), create("c")];
  for (const keyval of [a, stubborn, c]) set.put(keyval, 1);
  assert.deepEqual(set.clear(callDelete), { kind: "error", code: 99 });
  assert.deepEqual(calls, ["c 1", "stubborn 1"]);
  assert.deepEqual(
    set.list().map(({ keyval }) => keyval),
    [a, stubborn],
  );
  const deletesAll = set.clear(({ keyval }) => {
    set.drop(keyval === stubborn ? a : stubborn);
    return { kind: "done" };
  });
  assert.deepEqual([deletesAll, set.list()], [{ kind: "done" }, []]);
});

test("M4 §7.7.2 Comm_dup copies in order of setting what callbacks keep", () => {
  const { calls, callDelete, create, set } = scene();
  const [a, b, c] = [create("a"), create("b"), create("c")];
  for (const keyval of [a, b, c]) set.put(keyval, 10);
  const copy = set.dup(({ keyval, value }) => {
    calls.push(`copy ${keyval.callbacks}`);
    return keyval === b ? { kind: "drop" } : { kind: "keep", value: (value as number) + 1 };
  }, callDelete);
  assert.ok(copy instanceof AttributeSet);
  assert.deepEqual(calls, ["copy a", "copy b", "copy c"]);
  assert.deepEqual(copy.list(), [
    { keyval: a, value: 11 },
    { keyval: c, value: 11 },
  ]);
});

test("M4 §7.7.2 a copy callback that fails undoes the duplicate", () => {
  const { calls, callDelete, create, set } = scene();
  const [a, b] = [create("a"), create("b")];
  for (const keyval of [a, b]) set.put(keyval, 10);
  const copy = set.dup(
    ({ keyval }) => (keyval === b ? { kind: "error", code: 7 } : { kind: "keep", value: 5 }),
    callDelete,
  );
  assert.deepEqual(copy, { kind: "error", code: 7 });
  assert.deepEqual(calls, ["a 5"]);
});

test("M4 §7.7.2 a freed keyval cannot be used, and its attributes still have it", () => {
  const { keyvals, calls, callDelete, create, set } = scene();
  const a = create("a");
  set.put(a, 1);
  keyvals.free(a.number, "communicator");
  assert.throws(() => keyvals.find(a.number, "communicator"), { code: ErrorClass.KEYVAL });
  assert.notEqual(create("b").number, a.number);
  set.clear(callDelete);
  assert.deepEqual(calls, ["a 1"]);
});

test("M4 §7.7 keyvals are for one kind of object, and lie behind the standard's numbers", () => {
  const keyvals = new Keyvals<string>();
  const { number } = keyvals.create("datatype", "");
  assert.ok(number > 605);
  assert.equal(keyvals.find(number, "datatype").number, number);
  assert.throws(() => keyvals.find(number, "window"), {
    code: ErrorClass.KEYVAL,
    message: `Cannot use keyval ${number} for a window: it is for a datatype`,
  });
});
