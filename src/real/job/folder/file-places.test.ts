import assert from "node:assert/strict";
import { test } from "node:test";
import type { FileKey, FileRequest } from "../../file-service/file-key.ts";
import { filePlaces } from "./file-places.ts";

const all = {
  program: "/job",
  spawned: "/tmp",
  traces: "/tmp/trace",
  checkpoints: "/job/checkpoints",
  freezeTo: "/job",
  thawFrom: "/old",
};
const own: FileKey = { kind: "program", name: "program.wasm" };
const child: FileKey = { kind: "program", name: "program-1.wasm" };
const trace: FileKey = { kind: "trace", rank: 3 };
const frozen: FileKey = { kind: "frozen", rank: 3 };
const checkpoint: FileKey = { kind: "checkpoint", set: 1, number: 2, rank: 3 };

test("X8: a node may fetch programs and images, store images, and append to traces, each in its place and nothing else", () => {
  const placeOf = filePlaces(all);
  const places = (want: FileRequest["want"]) =>
    [own, child, trace, frozen, checkpoint].map((file) => placeOf({ want, file }));
  const image = "/job/checkpoints/set-1/2/3.image";
  assert.deepEqual(places("fetch"), ["/job/program.wasm", "/tmp/program-1.wasm", null, "/old/3.image", image]);
  assert.deepEqual(places("store"), [null, null, null, "/job/3.image", image]);
  assert.deepEqual(places("append"), [null, null, "/tmp/trace/3.trace", null, null]);
});

test("X8: what the job does not have nobody may ask for", () => {
  const placeOf = filePlaces({ ...all, traces: "", checkpoints: "", freezeTo: "", thawFrom: "" });
  for (const want of ["fetch", "store", "append"] as const) {
    assert.deepEqual(
      [trace, frozen, checkpoint].map((file) => placeOf({ want, file })),
      [null, null, null],
    );
  }
});
