import { equal, match, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { SimImageStore } from "./image-store.ts";
import type { SimRankImage } from "./rank-image.ts";

const image = {} as SimRankImage;

/** A store, what it has answered, and uploads of two ranks. */
function uploads() {
  const store = new SimImageStore();
  const answers: string[] = [];
  const uploadOf = (rank: number) => ({
    name: { set: 0, number: 1, rank },
    image,
    answer: (problem: string) => void answers.push(problem),
  });
  const both = [uploadOf(0), uploadOf(1)] as const;
  for (const upload of both) store.upload(upload);
  return { store, answers, first: both[0], second: both[1] };
}

describe("V4 a simulated checkpoint server", () => {
  it("has what was written, and says so", () => {
    const { store, answers, first } = uploads();
    store.written(first);
    equal(answers.length, 0);
    store.acknowledged(first);
    equal(answers[0], "");
    equal(store.problemOf(first.name), "");
    equal(store.get(first.name), image);
  });

  it("loses what was not written when it crashes, and the image that it was writing is torn", () => {
    const { store, answers, first, second } = uploads();
    store.crash();
    equal(answers.length, 2);
    match(store.problemOf(first.name), /torn/);
    match(store.problemOf(second.name), /no image/);
    throws(() => store.get(first.name), /torn/);
    store.written(first);
    match(store.problemOf(first.name), /torn/);
  });

  it("has what was written before it crashed, also when nobody has heard of it", () => {
    const { store, answers, first, second } = uploads();
    store.written(first);
    store.crash();
    match(answers[0]!, /lost/);
    equal(store.problemOf(first.name), "");
    match(store.problemOf(second.name), /torn/);
  });

  it("refuses images until another has its place, and forgets those that are dropped", () => {
    const { store, answers, first } = uploads();
    store.written(first);
    store.crash();
    store.upload(first);
    match(answers.at(-1)!, /cannot be reached/);
    store.restart();
    store.drop({ set: 0, number: 1 });
    match(store.problemOf(first.name), /no image/);
  });
});
