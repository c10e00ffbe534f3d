import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { RecordId } from "../base/brand.ts";
import { callsOfWords, isMeeting, type RecentCall, RecentCollectives, wordsOfCalls } from "./recent-collectives.ts";
import { merged, noReport, Purpose, type SyncReport, verdictOfWords, wordsOfReport } from "./report.ts";

const living: SyncReport = {
  ...noReport,
  purposes: Purpose.AGREE,
  flags: 0b110,
  acknowledged: 2,
  living: 1,
  collectivesMin: 3,
  collectivesMax: 3,
  collectivesOwner: 4,
};
const dead: SyncReport = { ...noReport, dead: [7], collectivesMin: 1, collectivesMax: 1, collectivesOwner: 7 };

test("U5 §5.3.2: reports are merged in any order, and nobody's changes nothing", () => {
  deepEqual(merged(living, noReport), living);
  deepEqual(merged(noReport, dead), dead);
  const both = merged(living, dead);
  deepEqual(merged(dead, living), both);
  deepEqual(both, { ...living, collectivesMin: 1, dead: [7] });
  equal(merged(living, { ...living, flags: 0b011, purposes: Purpose.FREE }).flags, 0b010);
});

test("U5 §5.3.2: a verdict is the same at both ends of a message, and half a one is none", () => {
  const words = wordsOfReport(9, merged(living, dead), [1, 2, 3]);
  deepEqual(verdictOfWords(words), { number: 9, verdict: { ...merged(living, dead), extra: [1, 2, 3] } });
  for (let length = 0; length < words.length - 3; length++) equal(verdictOfWords(words.slice(0, length)), null);
});

const call = (kind: RecentCall["kind"], tag: number): RecentCall => ({
  kind,
  bytes: 8,
  root: 1,
  elementBytes: kind === "allreduce" ? 4 : 0,
  tag,
});

test("U6 §5.3.4: a list of recent collectives is the same at both ends of a message", () => {
  const calls = [call("barrier", 1), call("bcast", 4), call("allreduce", 5)];
  deepEqual(callsOfWords(wordsOfCalls(calls)), calls);
});

test("U6 §5.3.4: members may complete a collective of no bytes before others have started it, unless it is a barrier", () => {
  equal(isMeeting(call("allreduce", 1)), true);
  equal(isMeeting({ ...call("allreduce", 1), bytes: 0 }), false);
  equal(isMeeting({ ...call("barrier", 1), bytes: 0 }), true);
  equal(isMeeting(call("bcast", 1)), false);
});

test("U6: of two collectives that members have begun the verdict names the later one, also where numbers begin again", () => {
  const begun = (tag: number): SyncReport => ({ ...living, early: call("allreduce", tag), firstLacked: tag });
  for (const [one, other] of [
    [4, 5],
    [0x3fffffff, 0],
  ] as const) {
    for (const both of [merged(begun(one), begun(other)), merged(begun(other), begun(one))]) {
      deepEqual([both.early?.tag, both.firstLacked], [other, one]);
    }
  }
});

test("U6 §5.3.4: what all members must have started is forgotten, what is under way is not", () => {
  const recent = new RecentCollectives();
  const add = (kind: RecentCall["kind"], request: number): number =>
    recent.add({ ...call(kind, 0), request: request as RecordId, buffers: [] });
  add("bcast", -1);
  add("bcast", 5);
  recent.completed(add("barrier", -1));
  equal(recent.count, 3);
  deepEqual(
    recent.since(0).map(({ request }) => request),
    [5, -1],
    "the first is over, and a barrier behind it was completed; the second is under way",
  );
  deepEqual(
    recent.since(2).map(({ kind }) => kind),
    ["barrier"],
  );
});
