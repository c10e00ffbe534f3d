import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import planeBytes from "./plane.wat";

/** Looks in one spin. */
const looks = 1000;
const spins = 4;

/** The plane's waits, among stand-ins for all that they do not use. `isThere`: has the packet come, by so many spins and yields of this wait? */
function waitingPlane(isThere: (done: { spins: number; yields: number }) => boolean) {
  const done = { spins: 0, yields: 0 };
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65_536, shared: true });
  const spin = (...[, , , , often]: number[]): number => {
    if (often === looks) done.spins++;
    return isThere(done) ? 1 : 0;
  };
  const none = (): number => 0;
  const zeros = [
    "pass",
    "ways",
    "rank",
    "ring",
    "slots",
    "eagerBytes",
    "stop",
    "notices",
    "noticesSeen",
    "hasSockets",
    "records",
  ];
  const places = Object.fromEntries(zeros.map((name) => [name, 0]));
  const plane = new WebAssembly.Instance(new WebAssembly.Module(planeBytes), {
    node: { memory },
    calls: { reserve: none, commit: none, publish: none, spin },
    host: { yield: () => void done.yields++, wakeWaiters: none, wakeElsewhere: none, lookAtSockets: none },
    record: { append6: none, late: none },
    plane: { ...places, programBytes: 0n, looks, spins, yields: 100, looksAhead: 1 },
  });
  const wait = plane.exports["await"] as (slot: number, stamp: number) => number;
  return (): { spins: number; yields: number } => {
    done.spins = 0;
    done.yields = 0;
    equal(wait(0, 1), 1);
    return { ...done };
  };
}

test("X9 waits for a thread that runs only when this one gives the core away soon begin with that, and try spins now and then", () => {
  const wait = waitingPlane(({ yields }) => yields > 0);
  const waits = Array.from({ length: 8 + 17 * 20 }, wait);
  ok(waits.every(({ yields }) => yields === 1));
  deepEqual(
    waits.map((each) => each.spins),
    [...new Array(8).fill(spins), ...Array.from({ length: 20 }, () => [...new Array(16).fill(0), spins]).flat()],
  );
});

test("X9 waits for a thread with a core of its own spin, whatever the waits before were like", () => {
  let isShared = true;
  const wait = waitingPlane((done) => (isShared ? done.yields > 0 : done.spins > 1 || done.yields > 3));
  for (let i = 0; i < 8; i++) wait();
  deepEqual(wait(), { spins: 0, yields: 1 });
  isShared = false;
  // That one begins with a yield still, which does not help.
  deepEqual(wait(), { spins: 0, yields: 4 });
  for (let i = 0; i < 40; i++) deepEqual(wait(), { spins: 2, yields: 0 });
});

test("X9 a wait that lasts says nothing about the core", () => {
  const wait = waitingPlane(({ yields }) => yields > 30);
  for (let i = 0; i < 40; i++) deepEqual(wait(), { spins, yields: 31 });
});
