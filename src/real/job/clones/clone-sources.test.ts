import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { CloneSources } from "./clone-sources.ts";

function sourcesOf(isByProgram: boolean): { sources: CloneSources; sent: [number, string][] } {
  const sent: [number, string][] = [];
  const send = (process: number, { kind }: { readonly kind: string }): void => void sent.push([process, kind]);
  return { sources: new CloneSources({ isByProgram, send }), sent };
}

const wanted = (number: number): boolean => number === 17;

test("D2 a program that waits in its checkpoint stands still for an image that is wanted, and goes on otherwise", () => {
  const { sources, sent } = sourcesOf(true);
  sources.order(3, 17);
  sources.heard(3, wanted);
  sources.order(4, 0);
  sources.heard(4, wanted);
  deepEqual(sent, [
    [3, "checkpoint"],
    [4, "checkpoint"],
    [4, "go-on"],
  ]);
});

test("D2 a program that says again that it has stopped cannot be captured, and goes on", () => {
  const { sources, sent } = sourcesOf(true);
  sources.order(3, 17);
  sources.heard(3, wanted);
  sources.heard(3, wanted);
  sources.heard(3, wanted);
  deepEqual(sent, [
    [3, "checkpoint"],
    [3, "go-on"],
  ]);
});

test("D2 an order that is taken back before a program has heard it is answered when it has", () => {
  const { sources, sent } = sourcesOf(true);
  sources.order(3, 17);
  sources.release(3);
  equal(sent.length, 1, "it would not hear that it may go on");
  sources.heard(3, () => false);
  deepEqual(sent.at(-1), [3, "go-on"]);
});

test("D2 a program that stops at any call goes on at once, one that has not come to its checkpoint is told nothing", () => {
  const [anywhere, byItself] = [sourcesOf(false), sourcesOf(true)];
  for (const { sources } of [anywhere, byItself]) sources.release(3);
  deepEqual(anywhere.sent, [[3, "go-on"]]);
  deepEqual(byItself.sent, []);
});

test("D2 a source has twice as long each time that it is asked, until a clone of it is back", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { sources } = sourcesOf(false);
  const late: number[] = [];
  sources.waitFor(3, () => late.push(1));
  sources.waitFor(3, () => late.push(2));
  sources.served(3);
  sources.waitFor(3, () => late.push(3));
  t.mock.timers.tick(120_000);
  deepEqual(late, [1, 3]);
  t.mock.timers.tick(120_000);
  deepEqual(late, [1, 3, 2]);
});
