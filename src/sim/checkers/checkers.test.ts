import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pointer, RecordId, WorldRank } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { passThrough } from "../../core/ft/pass-through.ts";
import { Recording } from "../../core/ft/recording-protocol.ts";
import { worldContext } from "../../core/process/context.ts";
import { SendMode } from "../../core/request/records.ts";
import { Observation, type Receipt } from "../observation.ts";
import { JobInput } from "../outside/job-input.ts";
import { PrintedOutput } from "../outside/printed-output.ts";
import { RankFiles } from "../outside/rank-files.ts";
import { SharedFiles } from "../outside/shared-files.ts";
import { Random } from "../random.ts";
import { Histories } from "../recovery/histories.ts";
import type { Script } from "../script/script.ts";
import { recordBytes, recordText } from "../script/shared-file-plan.ts";
import { World } from "../world.ts";
import { checkers } from "./all.ts";
import type { Checker, Evidence } from "./checker.ts";
import { collectivesRight } from "./collectives-right.ts";
import { communicatorsRight } from "./communicators-right.ts";
import { contentsRight } from "./contents-right.ts";
import { filesRight } from "./files-right.ts";
import { historiesAgree } from "./histories-agree.ts";
import { hooksCalled } from "./hooks-called.ts";
import { inputRight } from "./input-right.ts";
import { nobodyStuck } from "./nobody-stuck.ts";
import { nonOvertaking } from "./non-overtaking.ts";
import { nothingLeft } from "./nothing-left.ts";
import { printedOnce } from "./printed-once.ts";
import { receivedOnce } from "./received-once.ts";
import { requestsEnded } from "./requests-ended.ts";
import { sharedFilesRight } from "./shared-files-right.ts";
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
  collectives: [{ number: 0, communicator: 0, kind: "barrier", root: 0, count: 0, shape: 0, ...rest }],
  sharedFiles: [],
  actions: [[{ kind: "print", endsLine: true }], [{ kind: "file", op: { does: "append", name: "a", to: "" } }]],
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

/** Rank 1 takes a message, and its sender sends it again with another history. */
function orphaned(): Histories {
  const histories = new Histories(2);
  const [sender, receiver] = [histories.tracer(0), histories.tracer(1)];
  sender.sent(1, 5, 10, 0, 2);
  receiver.matched(0, 5, 10, 0, 2);
  histories.observe(0, 1);
  sender.sent(1, 5, 10, 0, 2);
  return histories;
}

/** A run without violations, then one change. */
function evidence(change: (observation: Observation, world: World) => Partial<Evidence> | undefined): Evidence {
  const observation = new Observation();
  const world = new World({ ranks: 2 });
  observation.receipts.push(receipt(0), receipt(1));
  observation.ended.push({
    rank: 0,
    what: "send of message 0",
    communicators: [0],
    peers: [1],
    error: 0,
    cancelled: false,
    wantedCancelled: false,
  });
  for (const rank of [0, 1]) {
    observation.collectives.push({ collective: 0, rank, error: 0, wrongReceived: -1, wrongSent: -1 });
    observation.communicators.push({ communicator: 1, member: rank, rank, groups: [[0, 1]], context: 80 });
  }
  observation.sends.push({ message: 1, at: 2, error: 0 });
  const changed = change(observation, world);
  return { script, observation, world, stuck: [], dead: new Set(), ...changed };
}

/** An output in which rank 0 has printed the first, and the second arrived. */
function printed(text: string, ...came: readonly string[]): PrintedOutput {
  const output = new PrintedOutput(2);
  output.printed(0, 0, text);
  for (const [offset, each] of came.entries()) output.offer(0, { line: 0, offset }, each);
  return output;
}

/** Rank 0 was to read standard input twice, and was given these bytes. */
function readInput(...texts: readonly string[]): Partial<Evidence> {
  const input = new JobInput({ random: new Random(1), keeps: false, later: (act) => act() });
  for (const [number, text] of texts.entries()) input.read(number, new TextEncoder().encode(text));
  const actions = [[{ kind: "input", room: 6 } as const, { kind: "input", room: 6 } as const], []];
  return { script: { ...script, actions }, input };
}

/** Ranks 0 and 1 were to write a record each at the shared pointer of a file, which has these contents in the end. */
function sharedFile(contents: (records: readonly string[]) => string): Partial<Evidence> {
  const { system } = new RankFiles(2, () => 0);
  const sharedFiles = new SharedFiles(system);
  const texts = [0, 1].map((member) => recordText({ phase: 0, member, index: 0 }, member));
  for (const [member, text] of texts.entries()) sharedFiles.wrote({ file: 0, phase: 0, member, index: 0 }, text);
  system.put("/together/file-0", new TextEncoder().encode(contents(texts)));
  const phases = [{ by: "shared", start: 0, counts: [1, 1] } as const];
  const plan = { number: 0, communicator: 0, phases, size: 2 * recordBytes };
  const communicators = [{ number: 0, groups: [[0, 1]], topology: null, open: new Set<number>() }];
  return { script: { ...script, communicators, sharedFiles: [plan] }, sharedFiles };
}

/** The same, and rank 0 has read something else. */
function misread(): Partial<Evidence> {
  const evidence = sharedFile((records) => records.join(""));
  evidence.sharedFiles?.read(0, 0, { file: 0, bytes: recordBytes, hash: 1 });
  return evidence;
}

/** The same, and the lock is still there. */
function leftLocked(): Partial<Evidence> {
  const evidence = sharedFile((records) => records.join(""));
  evidence.sharedFiles?.system.put("/together/.file-0.lock", new Uint8Array(0));
  return evidence;
}

/** Files to which rank 1 was to append an x. */
function usedFiles(what: "not used" | "used" = "not used", told = 0): RankFiles {
  const files = new RankFiles(2, () => 0);
  if (what === "used") files.done(1, 0, { op: { does: "append", name: "a", to: "" }, text: "x", told: [told] });
  return files;
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
  [
    collectivesRight,
    "a collective that one rank did not end",
    ({ collectives }) => drop(collectives),
    /did not end at rank 1/,
  ],
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
  [printedOnce, "a line that is missing", () => ({ output: new PrintedOutput(2) }), /rank 0 has printed 0 pieces of 1/],
  [printedOnce, "a line that was lost", () => ({ output: printed("a") }), /has "" at byte 0.*has printed "a" there/],
  [printedOnce, "a line that is there twice", () => ({ output: printed("a", "a", "a") }), /has "aa" at byte 0/],
  [printedOnce, "a line of another history", () => ({ output: printed("a", "b") }), /has "b" .* has printed "a"/],
  [filesRight, "files that were not used", () => ({ files: usedFiles() }), /rank 1 has used files 0 times of 1/],
  [
    filesRight,
    "a write that was lost",
    () => ({ files: usedFiles("used") }),
    /there is \[\], and once there were \["\/rank-1\/a: x"\] instead/,
  ],
  [inputRight, "a read that is missing", () => readInput("line 0"), /rank 0 has read 1 times of 2/],
  [inputRight, "bytes that were given twice", () => readInput("line 0", "line 0"), /byte 6 of what rank 0 has read/],
  [inputRight, "bytes that were left out", () => readInput("line 0", "job's"), /byte 6 of what rank 0 has read/],
  [sharedFilesRight, "a record that is there twice", () => sharedFile(([a]) => `${a}${a}`), /there is no .* member 1/],
  [sharedFilesRight, "a file that is too short", () => sharedFile(([a]) => a!), /has 48 bytes instead of 96/],
  [sharedFilesRight, "a read of something else", () => misread(), /has read something else from file 0/],
  [sharedFilesRight, "a lock that is left", () => leftLocked(), /lock" is left over/],
  [filesRight, "an answer of another life", () => ({ files: usedFiles("used", 7) }), /append, said 7, and once 0/],
  [hooksCalled, "a message that is held twice", () => ({ world: heldTwice() }), /message 0 of rank 0 is held 2 times/],
  [
    hooksCalled,
    "a message that is received and was not matched",
    () => ({ world: hearing(1, ["seen", 0, 4]) }),
    /rank 1: message 4 of rank 0 is seen and was not matched/,
  ],
  [
    hooksCalled,
    "a message that is received twice",
    () => ({ world: hearing(1, ["matched", 0, 4], ["held", 0, 4], ["seen", 0, 4], ["seen", 0, 4]) }),
    /rank 1: message 4 of rank 0 is received 2 times/,
  ],
  [nobodyStuck, "a deadlock", () => ({ stuck: [{ rank: 1, waitsFor: "Godot" }] }), /rank 1 waits for ever: Godot/],
  [nothingLeft, "memory not given back", (_, world) => leak(world), /left 12 bytes/],
  [
    nothingLeft,
    "a message nobody wants",
    (_, world) => {
      world.processes[0]!.engine.sendNow(0 as Pointer, 0, 1, 0, 2);
      world.run();
      return undefined;
    },
    /1 unexpected messages/,
  ],
];

/**
 * Ranks 0 to 2, of which 2 is dead: each change concerns the living alone, or is an error that the death does not excuse. Every
 * violation must be found in spite of the death.
 */
const scriptOfThree: Script = {
  ...script,
  ranks: 3,
  communicators: [
    { number: 0, groups: [[0, 1, 2]], topology: null, open: new Set() },
    { number: 1, groups: [[0, 1]], topology: null, open: new Set() },
  ],
  messages: [
    { ...message, number: 0, bytes: 10 },
    { ...message, number: 1, bytes: 20, mode: SendMode.SYNCHRONOUS },
    { ...message, number: 2, bytes: 30, from: 2 },
  ],
  receives: [
    { ...receive, number: 0, source: 0 },
    { ...receive, number: 1, source: 0 },
    { ...receive, number: 2, source: 2, mayTake: [2] },
    // On the communicator of the living.
    { ...receive, number: 3, communicator: 1 },
  ],
  collectives: [0, 1].map((communicator) => ({
    number: communicator,
    communicator,
    kind: "barrier",
    root: 0,
    count: 0,
    shape: 0,
    ...rest,
  })),
};

const { PROC_FAILED, PROC_FAILED_PENDING, REVOKED, TRUNCATE } = ErrorClass;

function withDeath(change: (observation: Observation, world: World) => Partial<Evidence> | undefined): Evidence {
  const world = new World({ ranks: 3 });
  world.crash(2);
  world.run();
  const observation = new Observation();
  observation.receipts.push(receipt(0), receipt(1), receipt(2, { message: 2, source: 2, error: PROC_FAILED }));
  observation.sends.push({ message: 1, at: 2, error: 0 });
  for (const rank of [0, 1]) {
    observation.ended.push(
      { ...endedSend, rank, what: "send to the living" },
      { ...endedSend, rank, what: "send to the dead", peers: [2], error: PROC_FAILED },
    );
    observation.collectives.push(
      { collective: 0, rank, error: rank === 0 ? PROC_FAILED : 0, wrongReceived: -1, wrongSent: -1 },
      { collective: 1, rank, error: 0, wrongReceived: -1, wrongSent: -1 },
    );
    observation.communicators.push({ communicator: 1, member: rank, rank, groups: [[0, 1]], context: 80 });
  }
  const changed = change(observation, world);
  return { script: scriptOfThree, observation, world, stuck: [], dead: new Set([2]), ...changed };
}

const endedSend = { communicators: [0], peers: [0, 1], error: 0, cancelled: false, wantedCancelled: false };

/** Hooks that the protocol of a rank hears; source and number of the message. */
function hearing(rank: number, ...calls: readonly ["held" | "matched" | "seen", number, number][]): World {
  const world = new World({ ranks: 3, protocol: () => new Recording().around(passThrough) });
  const protocol = world.processes[rank]!.core.protocol!;
  for (const [hook, source, sequence] of calls) {
    if (hook === "held") protocol.held(source as WorldRank, sequence);
    else if (hook === "seen") protocol.seen(source as WorldRank, sequence, true);
    else protocol.matched(0 as RecordId, source as WorldRank, sequence);
  }
  return world;
}

const sendTo1 = (from: number, context: number) => (_: Observation, world: World) => {
  const { engine } = world.processes[from]!;
  engine.sendNow(0 as Pointer, 0, 1, 0, context);
  return void world.run();
};

const casesWithDeath: typeof cases = [
  [
    statusesRight,
    "an error of a receive that names a living rank",
    ({ receipts }) => change(receipts, 0, { error: PROC_FAILED }),
    /receive 0: it ended with error 75/,
  ],
  [
    statusesRight,
    "a failed wildcard on a communicator without a dead member",
    ({ receipts }) => void receipts.push(receipt(3, { message: -1, error: PROC_FAILED_PENDING })),
    /receive 3: it ended with error 76/,
  ],
  [
    statusesRight,
    "a revocation that nobody asked for",
    ({ receipts }) => change(receipts, 2, { error: REVOKED }),
    /receive 2: it ended with error 77/,
  ],
  [
    statusesRight,
    "an error that no death explains",
    ({ receipts }) => change(receipts, 2, { error: TRUNCATE }),
    /receive 2: it ended with error 15/,
  ],
  [contentsRight, "a torn message", ({ receipts }) => change(receipts, 1, { wrongByte: 8 }), /byte 8 is wrong/],
  [
    nonOvertaking,
    "two messages of a living sender the wrong way round",
    ({ receipts }) => change(receipts, 0, { posted: 2 }),
    /took message 0 of rank 0 after message 1/,
  ],
  [
    receivedOnce,
    "a lost message between the living",
    ({ receipts }) => void receipts.splice(1, 1),
    /message 1.*: 0 times/,
  ],
  [
    receivedOnce,
    "a message of the dead that came twice",
    ({ receipts }) => void receipts.push(...[0, 0].map(() => receipt(2, { message: 2, source: 2, bytes: 30 }))),
    /message 2.*: 2 times/,
  ],
  [
    requestsEnded,
    "a send to the living that failed",
    ({ ended }) => change(ended, 0, { error: PROC_FAILED }),
    /send to the living ended with error 75/,
  ],
  [
    requestsEnded,
    "a making among the living that failed",
    ({ ended }) => void ended.push({ ...endedSend, rank: 0, what: "making of communicator 1", error: PROC_FAILED }),
    /making of communicator 1 ended with error 75/,
  ],
  [
    synchronousWaits,
    "a synchronous send between the living that did not wait",
    ({ sends }) => change(sends, 0, { at: 0 }),
    /message 1 was complete before its receive began/,
  ],
  [historiesAgree, "an orphan", () => ({ histories: orphaned() }), /message 0 from rank 0 to 1/],
  [
    collectivesRight,
    "a failed collective of the living",
    ({ collectives }) => change(collectives, 1, { error: PROC_FAILED }),
    /barrier 1 .*rank 0: ended with error 75/,
  ],
  [
    collectivesRight,
    "a wrong result of one that ended without error, with a dead member",
    ({ collectives }) => change(collectives, 2, { wrongReceived: 5 }),
    /barrier 0 .*rank 1: byte 5 of the result is wrong/,
  ],
  [
    collectivesRight,
    "a failed one that has overwritten what it sends",
    ({ collectives }) => change(collectives, 0, { wrongSent: 5 }),
    /barrier 0 .*rank 0: byte 5 of what it sends/,
  ],
  [
    collectivesRight,
    "one that did not end at a living rank",
    ({ collectives }) => drop(collectives),
    /barrier 1: it did not end at rank 1/,
  ],
  [
    communicatorsRight,
    "a communicator that a living member has not",
    ({ communicators }) => drop(communicators),
    /communicator 1 is missing at rank 1/,
  ],
  [
    hooksCalled,
    "a message of a living rank that is matched and never held",
    () => ({ world: hearing(1, ["matched", 0, 4]) }),
    /rank 1: message 4 of rank 0 is matched and never held/,
  ],
  [
    hooksCalled,
    "a message of the dead that is held twice",
    () => ({ world: hearing(1, ["held", 2, 4], ["held", 2, 4]) }),
    /rank 1: message 4 of rank 2 is held 2 times/,
  ],
  [nobodyStuck, "a deadlock", () => ({ stuck: [{ rank: 1, waitsFor: "Godot" }] }), /rank 1 waits for ever: Godot/],
  [
    printedOnce,
    "a line of a living rank that is missing",
    () => ({ output: new PrintedOutput(3) }),
    /rank 0 has printed 0 pieces/,
  ],
  [
    filesRight,
    "files of a living rank that were not used",
    () => ({ files: usedFiles() }),
    /rank 1 has used files 0 times/,
  ],
  [inputRight, "a read of a living rank that is missing", () => readInput("line 0"), /rank 0 has read 1 times/],
  [
    sharedFilesRight,
    "a record of the living that is there twice",
    () => sharedFile(([a]) => `${a}${a}`),
    /there is no/,
  ],
  [nothingLeft, "memory of a living rank", (_, world) => leak(world), /rank 1 has left 12 bytes/],
  [nothingLeft, "a message between the living that nobody wants", sendTo1(0, worldContext), /1 unexpected messages/],
  [
    nothingLeft,
    "such a message where ranks return, and one that died at the end did not",
    (observation, world) => {
      sendTo1(0, worldContext)(observation, world);
      return { histories: new Histories(3) };
    },
    /rank 1 has left 1 unexpected messages/,
  ],
  [
    nothingLeft,
    "a receive from the living in such a world",
    (_, world) => {
      world.processes[1]!.engine.startReceive(0 as Pointer, 0, 0, 5, worldContext);
      return { histories: new Histories(3) };
    },
    /rank 1 has left 1 posted receives/,
  ],
  [
    nothingLeft,
    "such a message though its receiver has given up",
    (observation, world) => {
      observation.gaveUp.add(1);
      return sendTo1(0, worldContext)(observation, world);
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

  it("are content with a run in which the living do all they can", () => {
    const all = withDeath(() => undefined);
    for (const { name, check } of checkers) deepEqual(check(all), [], name);
  });

  it("excuse what a death breaks off", () => {
    const brokenOff = withDeath(() => ({ world: hearing(1, ["matched", 2, 4]) }));
    deepEqual(hooksCalled.check(brokenOff), []);
    const left = withDeath((observation) => {
      const world = new World({ ranks: 3 });
      sendTo1(2, worldContext)(observation, world);
      world.crash(2);
      world.run();
      return { world };
    });
    equal(left.world.processes[1]!.engine.unexpected.count, 1);
    deepEqual(nothingLeft.check(left), []);
  });

  it("excuse REVOKED where somebody has revoked, and what is lost where somebody has given up", () => {
    const revoked = withDeath(({ receipts, collectives, communicators, revoked, gaveUp }) => {
      change(receipts, 1, { error: REVOKED, message: -1 });
      change(collectives, 1, { error: REVOKED });
      communicators.length = 0;
      for (const communicator of [0, 1]) revoked.add(communicator);
      for (const rank of [0, 1]) gaveUp.add(rank);
    });
    for (const { name, check } of checkers) deepEqual(check(revoked), [], name);
  });

  for (const [checker, what, change, wanted] of casesWithDeath) {
    it(`"${checker.name}" notices, though somebody is dead, ${what}`, () => {
      const problems = checker.check(withDeath(change));
      ok(problems.length > 0);
      match(problems.join("\n"), wanted);
    });
  }

  it("each of them has a case here, with and without a death", () => {
    for (const list of [cases, casesWithDeath]) deepEqual(new Set(list.map(([checker]) => checker)), new Set(checkers));
  });
});
