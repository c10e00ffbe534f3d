import assert from "node:assert/strict";
import { test } from "node:test";
import {
  absent,
  bytes,
  dictionary,
  finite,
  flag,
  kind,
  list,
  object,
  oneOf,
  opaque,
  orAbsent,
  orNull,
  text,
  whole,
  word,
} from "./value-shape.ts";

interface Dog {
  readonly kind: "dog";
  readonly age: number;
  readonly names: readonly string[];
}
interface Stone {
  readonly kind: "stone";
  readonly weight: number | null;
}
const dog = object<Dog>({ kind: kind("dog"), age: whole(0, 30), names: list(text) });
const thing = oneOf<Dog | Stone>({ dog, stone: object({ kind: kind("stone"), weight: orNull(finite) }) });

test("X7: a value of the right shape passes", () => {
  assert.equal(thing({ kind: "dog", age: 3, names: ["Rex"] }), "");
  assert.equal(thing({ kind: "stone", weight: null }), "");
  assert.equal(list(whole(0, 9), 2)([1, 2]), "");
  assert.equal(dictionary(text)({ a: "b" }), "");
  assert.equal(bytes(Buffer.alloc(1)), "");
  assert.equal(flag(false), "");
  assert.equal(word("a", "b")("b"), "");
  assert.equal(opaque(undefined), "");
});

test("X7: what is wrong is said with its place", () => {
  assert.equal(thing({ kind: "dog", age: 31, names: [] }), ".age is no whole number from 0 to 30");
  assert.equal(thing({ kind: "dog", age: 3, names: ["Rex", 7] }), ".names[1] is no text");
  assert.equal(thing({ kind: "dog", age: 3 }), "has no names");
  assert.equal(thing({ kind: "dog", age: 3, names: [], wings: 2 }), 'has a field "wings", which there is not');
  assert.equal(thing({ kind: "stone", weight: Number.NaN }), ".weight is no finite number");
  assert.equal(list(whole(0, 9), 2)([1]), "has 1 entries, not 2");
  assert.equal(dictionary(list(flag))({ a: [true], b: [1] }), ".b[0] is neither true nor false");
});

test("X7: a field may be missing only where its shape says so", () => {
  const cat = object<{ readonly name: string; readonly age?: number | undefined }>({
    name: text,
    age: orAbsent(whole(0, 30)),
  });
  assert.equal(cat({ name: "Tom" }), "");
  assert.equal(cat({ name: "Tom", age: undefined }), "");
  assert.equal(cat({ name: "Tom", age: -1 }), ".age is no whole number from 0 to 30");
  assert.equal(cat({ age: 3 }), "has no name");
  const silent = object<{ readonly words: undefined }>({ words: absent });
  assert.equal(silent({}), "");
  assert.equal(silent({ words: 0 }), ".words is there, and should not be");
});

test("X7: values that are not what they seem are refused", () => {
  for (const value of [
    null,
    undefined,
    1,
    "dog",
    [],
    new Map([["kind", "dog"]]),
    { kind: "toString" },
    { kind: ["dog"] },
  ]) {
    assert.equal(thing(value), "is of no known kind");
  }
  // Fields that an object has from elsewhere are not its own.
  assert.equal(dog(Object.create({ kind: "dog", age: 3, names: [] })), "has no kind");
  assert.equal(list(text)({ length: 0 }), "is no list");
  assert.equal(list(text)(new Array(2)), "[0] is no text");
  assert.equal(whole(0, 9)("3"), "is no whole number from 0 to 9");
  assert.equal(whole(0, 9)(3.5), "is no whole number from 0 to 9");
  assert.equal(bytes(new Uint16Array(1)), "is no bytes");
  assert.equal(text(new String("a")), "is no text");
});
