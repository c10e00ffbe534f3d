import assert from "node:assert/strict";
import { test } from "node:test";
import { lives, saves } from "../../core/base/saved-classes.ts";
import fc from "../../core/base/testing/properties.ts";
import { restoreState } from "./restore-state.ts";
import { saveState } from "./save-state.ts";
import { StateError } from "./state-error.ts";

class TestPoint {
  static readonly unsaved = { cache: null };
  x: number;
  other: TestPoint | null = null;
  cache: object | null = { big: true };

  constructor(x: number) {
    this.x = x;
  }

  twice(): number {
    return 2 * this.x;
  }
}
saves({ TestPoint });

/** A living class: its objects have a function and a view of shared memory of their own. */
class TestRoot {
  value: unknown = null;
  readonly queue: unknown[] = [];
  readonly table = new Int32Array(4);
  readonly shared = new Uint8Array(new SharedArrayBuffer(8));
  readonly call = (): TestRoot => this;
}
lives({ TestRoot });

class TestStranger {
  x = 1;
}

function restored(value: unknown): TestRoot {
  const [root, target] = [new TestRoot(), new TestRoot()];
  root.value = value;
  const state = saveState(root, new Map());
  restoreState(state, target, new Map());
  assert.deepEqual(saveState(target, new Map()), state);
  return target;
}

test("M6 images: every plain value comes back as it was", () => {
  const leaf = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.string({ unit: "binary" }),
    fc.constantFrom(null, undefined, -0, Number.NaN),
    fc.int32Array(),
    fc.float64Array(),
    fc.uint8Array(),
  );
  // No field of ours has that name, and JavaScript treats it as something else.
  const fieldName = fc.string().filter((name) => name !== "__proto__");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, tie("list"), tie("record"), tie("map"), tie("set")),
    list: fc.oneof(fc.array(tie("value")), fc.sparseArray(tie("value"))),
    record: fc.dictionary(fieldName, tie("value"), { noNullPrototype: true }),
    map: fc.array(fc.tuple(leaf, tie("value"))).map((entries) => new Map(entries)),
    set: fc.array(leaf).map((members) => new Set(members)),
  }));
  fc.assert(fc.property(value, (given) => assert.deepEqual(restored(given).value, given)));
});

test("M6 images: objects of classes come back with their methods, each once, cycles too; what is not saved is as new", () => {
  const [a, b] = [new TestPoint(1), new TestPoint(2)];
  a.other = b;
  b.other = a;
  const [first, second, again] = restored([a, b, a]).value as [TestPoint, TestPoint, TestPoint];
  assert.equal(first, again);
  assert.equal(first.other, second);
  assert.equal(second.other, first);
  assert.equal(second.twice(), 4);
  assert.equal(second.cache, null);
});

test("M6 images: a living object keeps itself, its arrays, functions and views of shared memory", () => {
  const [root, target] = [new TestRoot(), new TestRoot()];
  root.queue.push(1, root);
  root.table.set([1, 2, 3, 4]);
  root.shared.fill(7);
  const { queue, table, call } = target;
  restoreState(saveState(root, new Map()), target, new Map());
  assert.deepEqual([target.queue, target.table, target.call], [queue, table, call]);
  assert.deepEqual([...table], [1, 2, 3, 4]);
  assert.deepEqual(queue, [1, target]);
  assert.deepEqual([...target.shared], [0, 0, 0, 0, 0, 0, 0, 0]);
});

test("M6 images: a living object with other fields than the saved one had is refused", () => {
  const [more, fewer] = [new TestRoot(), new TestRoot()];
  (more as unknown as Record<string, number>)["added"] = 1;
  const refused = /TestRoot had other fields when it was saved; use the Banyan that saved it/;
  assert.throws(() => restoreState(saveState(more, new Map()), fewer, new Map()), refused);
  assert.throws(() => restoreState(saveState(fewer, new Map()), more, new Map()), refused);
});

/** Another living class. */
class TestPart {
  readonly root: TestRoot;

  constructor(root: TestRoot) {
    this.root = root;
  }
}
lives({ TestPart });

test("M6 images: a reference to a living object of another class than this version has there is refused", () => {
  const [root, target] = [new TestRoot(), new TestRoot()];
  root.value = root;
  target.value = new TestPart(target);
  const state = saveState(root, new Map());
  assert.throws(() => restoreState(state, target, new Map()), /TestPart had other fields when it was saved/);
});

test("M6 images: what belongs to the outside world is named, and found again there", () => {
  const [here, there] = [{ socket: 1 }, { socket: 2 }];
  const [root, target] = [new TestRoot(), new TestRoot()];
  root.value = [here, here];
  const state = saveState(root, new Map([[here, "socket"]]));
  restoreState(state, target, new Map([["socket", there]]));
  assert.deepEqual(target.value, [there, there]);
  assert.equal((target.value as object[])[0], there);
  assert.throws(() => restoreState(state, new TestRoot(), new Map()), /needs "socket", which this one does not have/);
});

test("M6 images: what cannot be saved is refused by its place", () => {
  const refuses = (value: unknown, message: RegExp) => assert.throws(() => restored(value), message);
  const point = new TestPoint(1);
  point.other = (() => {}) as never;
  refuses({ a: [point] }, /^StateError: Cannot save the process\.value\.a\.0\.other: it is a function$/);
  refuses([new TestStranger()], /Cannot save the process\.value\.0: it is a TestStranger$/);
  refuses(new Map([["k", new Uint8Array(new SharedArrayBuffer(1))]]), /value\.k: it is a view of shared memory/);
  refuses(Symbol("s"), /value: it is a symbol/);
});

test("M6 images: state that is cut short or of another kind is refused, never half believed", () => {
  const root = new TestRoot();
  root.value = [new TestPoint(3), "text", Int32Array.of(1, 2)];
  const state = saveState(root, new Map());
  for (let length = 0; length < state.length; length++) {
    assert.throws(() => restoreState(state.subarray(0, length), new TestRoot(), new Map()), StateError, `${length}`);
  }
  assert.throws(
    () => restoreState(state, new TestPoint(1), new Map()),
    /it has no TestRoot where the saved one had it/,
  );
});

test("M6 images: arrays keep what is undefined and what they lack, wherever it stands", () => {
  const element = fc.constantFrom("nothing", "hole", "text");
  fc.assert(
    fc.property(fc.array(element, { maxLength: 40 }), fc.nat(5000), (kinds, more) => {
      const array: unknown[] = new Array(kinds.length);
      for (const [i, kind] of kinds.entries()) {
        if (kind === "nothing") array[i] = undefined;
        if (kind === "text") array[i] = `${i}`;
      }
      for (let i = 0; i < more; i++) array.push(undefined);
      const back = restored({ before: 1, array, after: 2 }).value as { array: unknown[]; after: number };
      assert.equal(back.array.length, array.length);
      assert.deepEqual(Object.keys(back.array), Object.keys(array));
      assert.deepEqual(back.array, array);
      assert.equal(back.after, 2);
    }),
    { numRuns: 60 },
  );
});

test("M6 images: names of any length and alphabet come back, more of them than are remembered", () => {
  const names = Array.from({ length: 6000 }, (_, i) => (i % 3 === 0 ? `field${i}` : "ü".repeat(i % 50) + i));
  const value = Object.fromEntries(names.map((name, i) => [name, i]));
  for (let round = 0; round < 2; round++) assert.deepEqual(restored(value).value, value);
});
