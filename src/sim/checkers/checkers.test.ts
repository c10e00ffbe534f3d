import { deepEqual, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import type { WorldRank } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { passThrough } from "../../core/ft/pass-through.ts";
import { Recording } from "../../core/ft/recording-protocol.ts";
import { SendMode } from "../../core/request/records.ts";
import { Observation, type Receipt } from "../observation.ts";
import { Histories } from "../recovery/histories.ts";
import type { Script } from "../script/script.ts";
import { World } from "../world.ts";
import { checkers } from "./all.ts";
import type { Checker, Evidence } from "./checker.ts";
import { collectivesRight } from "./collectives-right.ts";
import { communicatorsRight } from "./communicators-right.ts";
import { contentsRight } from "./contents-right.ts";
import { historiesAgree } from "./histories-agree.ts";
import { hooksCalled } from "./hooks-called.ts";
import { nobodyStuck } from "./nobody-stuck.ts";
import { nonOvertaking } from "./non-overtaking.ts";
import { nothingLeft } from "./nothing-left.ts";
import { receivedOnce } from "./received-once.ts";
import { requestsEnded } from "./requests-ended.ts";
import { statusesRight } from "./statuses-right.ts";
import { synchronousWaits } from "./synchronous-waits.ts";

/** Two messages under one tag from rank 0 to rank 1, a broadcast, a duplicate of the world. */
const message = { communicator: 0, from: 0, to: 1, tag: 5, mode: SendMode.STANDARD, lent: false };
const receive = { communicator: 0, at: 1, source: ANY_SOURCE, tag: 5, room: 100, lent: false, mayTake: [0, 1] };
const rest = { inPlace: false, reduction: "sum", lent: false } as const;
const script: Script = {
  ranks: 2,
  communicators: [
    { number: 0, groups: [[0, 1]], topology: null, open: new Set() },
    { number: 1, groups: [[0, 1]], topology: null, open: new Set() },
  ],
  messages: [
    { ...message, number: 0, bytes: 10 },
    { ...message, number: 1, bytes: 20, mode: SendMode.SYNCHRONOUS },
  ],
  receives: [
    { ...receive, number: 0 },
    { ...receive, number: 1 },
  ],
  collectives: [{ ...{ number: 0, communicator: 0, kind: "barrier", root: 0, count: 0, shape: 0 }, ...rest }],
  actions: [[], []],
};

function receipt(number: number, change: Partial<Receipt> = {}): Receipt {
  return {
    receive: number,
    posted: number,
    postedAt: number,
    message: number,
    source: 0,
    tag: 5,
    bytes: 10 * (number + 1),
    error: 0,
    wrongByte: -1,
    probed: null,
    ...change,
  };
}

function change<T>(list: T[], index: number, fields: Partial<T>): undefined {
  list[index] = { ...list[index]!, ...fields };
}

function drop<T>(list: T[]): undefined {
  list.pop();
}

function leak({ processes }: World): undefined {
  processes[1]!.memory.allocate(12);
}

function heldTwice(): World {
  const world = new World({ ranks: 2, protocol: () => new Recording().around(passThrough) });
  for (let times = 0; times < 2; times++) world.processes[1]!.core.protocol!.held(0 as WorldRank, 0);
  return world;
}

/** Rank 1 takes a message, and its sender sends it again after it has seen something else. */
function orphaned(): Histories {
  const histories = new Histories(2);
  const [sender, receiver] = [histories.tracer(0), histories.tracer(1)];
  sender.sent(1, 5, 10, 0, 2);
  receiver.matched(0, 5, 10, 0, 2);
  histories.observe(0, 1);
  sender.sent(1, 5, 10, 0, 2);
  return histories;
}

/** A run in which all is well, then one thing changed. */
function evidence(change: (observation: Observation, world: World) => Partial<Evidence> | undefined): Evidence {
  const observation = new Observation();
  const world = new World({ ranks: 2 });
  observation.receipts.push(receipt(0), receipt(1));
  observation.ended.push({ rank: 0, what: "send of message 0", error: 0, cancelled: false, wantedCancelled: false });
  for (const rank of [0, 1]) {
    observation.collectives.push({ collective: 0, rank, error: 0, wrongReceived: -1, wrongSent: -1 });
    observation.communicators.push({ communicator: 1, member: rank, rank, groups: [[0, 1]], context: 80 });
  }
  observation.sends.push({ message: 1, at: 2, error: 0 });
  const changed = change(observation, world);
  return { script, observation, world, stuck: [], dead: new Set(), ...changed };
}

const cases: readonly [
  Checker,
  string,
  (observation: Observation, world: World) => Partial<Evidence> | undefined,
  RegExp,
][] = [
  [statusesRight, "another tag", ({ receipts }) => change(receipts, 0, { tag: 6 }), /source, tag, bytes are 0, 6, 10/],
  [statusesRight, "a size too short", ({ receipts }) => change(receipts, 0, { bytes: 9 }), /are 0, 5, 9/],
  [statusesRight, "an error", ({ receipts }) => change(receipts, 0, { error: 15 }), /error 15/],
  [historiesAgree, "an orphan", () => ({ histories: orphaned() }), /message 0 from rank 0 to 1/],
  [
    statusesRight,
    "a probe that spoke of another message",
    ({ receipts }) => change(receipts, 0, { probed: { source: 0, tag: 5, bytes: 20 } }),
    /the probe spoke of 0, 5, 20/,
  ],
  [statusesRight, "a message nobody sent", ({ receipts }) => change(receipts, 0, { message: -1 }), /never sent/],
  [contentsRight, "a torn message", ({ receipts }) => change(receipts, 1, { wrongByte: 8 }), /byte 8 is wrong/],
  [
    nonOvertaking,
    "two messages of one sender the wrong way round",
    ({ receipts }) => change(receipts, 0, { posted: 2 }),
    /took message 0 of rank 0 after message 1/,
  ],
  [receivedOnce, "a lost message", ({ receipts }) => drop(receipts), /message 1.*: 0 times/],
  [
    receivedOnce,
    "a message that came though it was cancelled",
    ({ cancelledMessages }) => void cancelledMessages.add(1),
    /message 1.*: 1 times, and it was cancelled/,
  ],
  [receivedOnce, "a duplicate", ({ receipts }) => change(receipts, 1, receipt(0)), /message 0.*: 2 times/],
  [
    requestsEnded,
    "a send that failed",
    ({ ended }) => change(ended, 0, { error: 75 }),
    /send of message 0 ended with error 75/,
  ],
  [requestsEnded, "a send cancelled by nobody", ({ ended }) => change(ended, 0, { cancelled: true }), /says cancelled/],
  [
    synchronousWaits,
    "a synchronous send that did not wait",
    ({ sends }) => change(sends, 0, { at: 0 }),
    /message 1 was complete before its receive began/,
  ],
  [
    collectivesRight,
    "a wrong byte in a result",
    ({ collectives }) => change(collectives, 1, { wrongReceived: 5 }),
    /barrier 0 .*rank 1: byte 5 of the result is wrong/,
  ],
  [
    collectivesRight,
    "a contribution that was overwritten",
    ({ collectives }) => change(collectives, 1, { wrongSent: 5 }),
    /byte 5 of what it sends was overwritten/,
  ],
  [collectivesRight, "a collective that one rank did not end", ({ collectives }) => drop(collectives), /1 of 2 ended/],
  [collectivesRight, "an error", ({ collectives }) => change(collectives, 0, { error: 16 }), /barrier 0 .* error 16/],
  [
    communicatorsRight,
    "a member with another context",
    ({ communicators }) => change(communicators, 1, { context: 82 }),
    /rank 1 has context 82/,
  ],
  [
    communicatorsRight,
    "a member with another rank",
    ({ communicators }) => change(communicators, 1, { rank: 0 }),
    /members are 0,1/,
  ],
  [
    communicatorsRight,
    "a member too much",
    ({ communicators }) => change(communicators, 1, { groups: [[0, 1, 2]] }),
    /is 1 of 0,1,2, members are 0,1/,
  ],
  [
    communicatorsRight,
    "a communicator that somebody should not have",
    ({ communicators }) => change(communicators, 1, { communicator: -1 }),
    /rank 1 was given a communicator/,
  ],
  [hooksCalled, "a message that is held twice", () => ({ world: heldTwice() }), /message 0 of rank 0 is held 2 times/],
  [nobodyStuck, "a deadlock", () => ({ stuck: [{ rank: 1, waitsFor: "Godot" }] }), /rank 1 waits for ever: Godot/],
  [nothingLeft, "memory not given back", (_, world) => leak(world), /left 12 bytes/],
  [
    nothingLeft,
    "a message nobody wants",
    (_, world) => {
      world.processes[0]!.engine.sendNow(0 as never, 0, 1, 0, 2);
      world.run();
      return undefined;
    },
    /1 unexpected messages/,
  ],
];

describe("checkers", () => {
  it("are content with a run in which all is well", () => {
    const all = evidence(() => undefined);
    for (const { name, check } of checkers) deepEqual(check(all), [], name);
  });

  for (const [checker, what, change, wanted] of cases) {
    it(`"${checker.name}" notices ${what}`, () => {
      const problems = checker.check(evidence(change));
      ok(problems.length > 0);
      match(problems.join("\n"), wanted);
    });
  }

  it("each of them has a case here", () => {
    deepEqual(new Set(cases.map(([checker]) => checker)), new Set(checkers));
  });
});
