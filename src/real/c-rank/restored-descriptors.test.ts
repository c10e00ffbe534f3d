import { doesNotThrow, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { ImageError } from "../../image/image-error.ts";
import type { Descriptor } from "../../wasi/descriptors.ts";
import { checkDescriptors } from "./restored-descriptors.ts";

const how = { read: true, write: false, create: false, exclusive: false, truncate: false, append: false };
const folders = [
  { name: ".", path: "/home/u" },
  { name: "/data", path: "/data" },
];
const file = (path: string): Descriptor => ({ kind: "file", path, given: "", how, position: 3, flags: 1 });
const input: Descriptor = { ...file(""), kind: "input" };
const given: Descriptor = { ...file("/home/u"), kind: "directory", given: "." };

const refused = (descriptor: unknown, why: RegExp): void =>
  throws(
    () => checkDescriptors([undefined, descriptor as Descriptor], folders),
    (error) => error instanceof ImageError && why.test(error.message),
    JSON.stringify(descriptor),
  );

describe("X7 descriptors of an image", () => {
  it("are believed when they lie in the folders given", () => {
    doesNotThrow(() => checkDescriptors([input, undefined, given, file("/home/u/a"), file("/data/b/c")], folders));
    doesNotThrow(() => checkDescriptors([file("/etc/passwd")], [{ name: "/", path: "/" }]));
  });

  it("are refused when they lie elsewhere, whatever they say that they were given", () => {
    for (const path of ["/etc/passwd", "/home/us", "/home/u/../v", "/home/u/./a", "relative", "/home/u/a\0b", ""]) {
      refused(file(path), /in none of the folders that the program is given/);
    }
    refused({ ...given, path: "/" }, /^it has \/ open, /);
    refused({ ...given, given: "/" }, /in none of the folders/);
    refused({ ...input, path: "/etc/passwd" }, /in none of the folders/);
  });

  it("are refused when they are none", () => {
    for (const nonsense of [null, 7, "file", {}, { ...given, kind: "socket" }, { ...given, path: 7 }]) {
      refused(nonsense, /^its descriptor 1 is none/);
    }
    for (const position of [-1, 0.5, Number.NaN, "0", 2 ** 60]) refused({ ...given, position }, /is none/);
    refused({ ...given, how: null }, /is none/);
    refused({ ...given, how: { ...how, write: 1 } }, /is none/);
  });
});
