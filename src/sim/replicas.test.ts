import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { filledBytes } from "../../test/filled-bytes.ts";
import type { RecordId } from "../core/base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../core/base/constants.ts";
import { R_STATUS_BYTES, R_STATUS_SOURCE, R_STATUS_TAG, SendMode } from "../core/request/records.ts";
import { restoreState } from "../image/state/restore-state.ts";
import { saveState } from "../image/state/save-state.ts";
import type { CostModel } from "./cost-model.ts";
import { type Member, ReplicaWorld } from "./testing/replica-world.ts";

const context = 4;
const replicas = 2;
/** Eager, and by rendezvous. */
const sizes = [100, 70_000];

interface Kind {
  readonly name: string;
  readonly together: boolean;
  readonly cost?: Partial<CostModel>;
  /** The way that a large message must have taken. */
  readonly way: "fetch" | "help" | "put" | "push";
  readonly sendLent: boolean;
}

const kinds: readonly Kind[] = [
  { name: "in pieces between nodes", together: false, way: "push", sendLent: false },
  { name: "one copy with help", together: true, way: "help", sendLent: false },
  { name: "one copy without", together: true, cost: { helpBytesMin: 1 << 20 }, way: "fetch", sendLent: false },
  { name: "one copy by the sender", together: true, way: "put", sendLent: true },
  {
    name: "channels that are often full",
    together: false,
    cost: { fullChance: 0.4, channelBytesMax: 500, pieceBytesMax: 4_000 },
    way: "push",
    sendLent: false,
  },
];

interface Got {
  readonly member: Member;
  readonly request: RecordId;
  readonly number: number;
  readonly bytes: number;
}

/** The receive is over, says that source, and has the message of that number. */
function checkReceived({ member, request, number, bytes }: Got, source: number, pointer: number): void {
  const { engine } = member;
  const { rank, replica } = member.name;
  ok(engine.isComplete(request), `message ${number} of rank ${source} is in world ${replica} at rank ${rank}`);
  const status = [R_STATUS_SOURCE, R_STATUS_TAG, R_STATUS_BYTES].map((field) => engine.records.get(request, field));
  deepEqual(status, [source, number, bytes]);
  ok(member.holds(pointer as never, bytes, number), `message ${number} is unharmed`);
  engine.giveBack(request);
}

function post(member: Member, source: number, number: number, bytes: number) {
  const pointer = member.memory.allocate(bytes);
  const request = member.engine.startReceive(pointer, bytes, source, source < 0 ? ANY_TAG : number, context);
  return { request, pointer };
}

/** An ordinary message of a program. */
function pass(world: ReplicaWorld, from: Member, to: Member, number: number, bytes: number): void {
  const request = from.engine.startSend(
    ...([from.filled(bytes, number), bytes, to.name.rank, number, context, SendMode.STANDARD] as const),
  );
  const receive = post(to, ANY_SOURCE, number, bytes);
  world.settle();
  checkReceived({ member: to, request: receive.request, number, bytes }, from.name.rank, receive.pointer);
  ok(from.engine.isComplete(request));
  from.engine.giveBack(request);
}

for (const kind of kinds) {
  const newWorld = (ranks: number, seed: number): ReplicaWorld =>
    new ReplicaWorld({ ranks, replicas, together: kind.together, seed, ...(kind.cost ? { cost: kind.cost } : {}) });

  describe(`two worlds of replicas, ${kind.name}`, () => {
    it("ADR 16: messages stay in their world, and statuses know ranks only", () => {
      const world = newWorld(4, 1);
      let number = 0;
      for (const bytes of sizes) {
        for (const from of world.members) {
          for (let rank = 0; rank < 4; rank++) {
            if (rank !== from.name.rank) pass(world, from, world.member(rank, from.name.replica), number++, bytes);
          }
        }
      }
      for (const { engine } of world.members)
        deepEqual([engine.records.count, engine.arrivals.refused, engine.arrivals.fenced], [0, 0, 0]);
    });

    it("ADR 16: a partner stands in for the dead: its messages are those of the dead one's, and the answers reach it", () => {
      for (let seed = 1; seed <= 3; seed++) substitution(newWorld(4, seed), kind);
    });
  });
}

/** Rank 3 of world 0 is lost; rank 3 of world 1 sends for it from then on, as its next life. */
function substitution(world: ReplicaWorld, { way, sendLent }: Kind): void {
  const [dead, partner] = [world.member(3, 0), world.member(3, 1)];
  const others = [0, 1, 2].map((rank) => world.member(rank, 0));
  for (const to of others) pass(world, dead, to, 1, 100);
  dead.isStill = true;
  for (const { access } of others) {
    access.peerLost(dead.name, 1);
    access.place(dead.name, 4 + 3);
    access.peerBack(dead.name);
  }
  const as = { ...dead.name, incarnation: 1 };
  let sequence = 1;
  let number = 10;
  for (const bytes of sizes) {
    for (const isFirst of [true, false]) {
      for (const to of others) {
        number++;
        const early = isFirst ? post(to, 3, number, bytes) : null;
        const pointer = partner.filled(bytes, number, sendLent && bytes > 100);
        const message = { dest: to.name.rank, replica: 0, tag: number, context, bytes, sequence, pointer };
        while (!partner.sendFor(as, message)) world.settle();
        world.settle();
        const { request, pointer: got } = early ?? post(to, ANY_SOURCE, number, bytes);
        world.settle();
        checkReceived({ member: to, request, number, bytes }, 3, got);
      }
      sequence++;
    }
  }
  equal(partner.engine.records.count, 0, "every send of the partner's has ended: CTS, RELEASE and the like came to it");
  const marks = world.members.map(({ transport }) => transport.marks[way]);
  ok(
    marks.some((times) => times > 0),
    `${way}: never`,
  );

  // What the lost one sent, and what it sends if it only seemed to be lost, comes too late.
  dead.isStill = false;
  const late = dead.engine.startSend(dead.filled(100, 99), 100, 0, 99, context, SendMode.STANDARD);
  world.settle();
  ok(dead.engine.isComplete(late), "its channel took the message");
  const first = others[0]!.engine;
  deepEqual([first.arrivals.fenced, first.unexpected.count, first.records.count], [1, 0, 0]);

  // Messages of world 0 for that rank go to the partner now, which answers them.
  others[0]!.access.route({ rank: 3, replica: 1 });
  for (const bytes of sizes) pass(world, others[0]!, partner, ++number, bytes);

  // The other world has heard nothing of all that.
  const inside = world.member(0, 1);
  pass(world, partner, inside, 50, 100);
  for (const { engine } of world.members) equal(engine.arrivals.refused, 0);
}

describe("what a protocol tells", () => {
  it("has a payload, of any process on behalf of any other, and waits for room", () => {
    const cost = { fullChance: 0.5, channelBytesMax: 2_000 };
    const world = new ReplicaWorld({ ranks: 2, replicas, cost });
    const [from, to] = [world.member(1, 1), world.member(0, 0)];
    const payloads = [0, 1, 100, 8 << 10, 5_000, 3].map((bytes, number) => filledBytes(bytes, (i) => i ^ number));
    for (const [a, payload] of payloads.entries()) {
      from.access.tell(to.name, { a, payload, from: a % 2 === 0 ? null : { rank: 0, replica: 1, incarnation: 0 } });
    }
    world.settle();
    ok(world.network.timesFull > 0);
    deepEqual(
      to.listener.heard,
      payloads.map((payload, a) => ({ source: a % 2 === 0 ? 1 : 0, a, payload })),
    );
    equal(from.engine.records.count, 0);
  });
});

describe("an image knows names, not places", () => {
  it("rule 11: what was captured in one placement goes on in another, also when it was half way", () => {
    for (let seed = 1; seed <= 10; seed++) movedTo([3, 0, 1, 2], seed);
  });

  it("rule 11: and in the same one", () => {
    movedTo([0, 1, 2, 3], 1);
  });
});

/** Requests of every kind are under way between four ranks; all of them move, each with its memory, and finish what they began. */
function movedTo(placement: readonly number[], seed: number): void {
  const cost = { fullChance: 0.3, pieceBytesMax: 4_000 };
  const before = new ReplicaWorld({ ranks: 4, replicas: 1, cost, seed });
  for (const to of before.members) pass(before, before.member((to.name.rank + 1) % 4, 0), to, 7, 200);
  const large = before.members.map((from) => {
    const { engine, name } = from;
    const dest = (name.rank + 1) % 4;
    return engine.startSend(
      from.filled(60_000, 20 + name.rank),
      60_000,
      dest,
      20 + name.rank,
      context,
      SendMode.STANDARD,
    );
  });
  const posted = before.members.map((to) => post(to, (to.name.rank + 2) % 4, 40, 300));
  before.settle();
  equal(before.network.packetsInFlight, 0);

  const after = new ReplicaWorld({ ranks: 4, replicas: 1, cost, seed, placement, heirsOf: before.members });
  for (const [peer, member] of before.members.entries()) {
    const heir = after.members[peer]!;
    const image = saveState(
      { engine: member.engine },
      new Map(outsideOf(member).map(([name, object]) => [object, name])),
    );
    restoreState(image, { engine: heir.engine }, new Map(outsideOf(heir)));
    heir.engine.peers.restored();
  }
  for (const to of after.members) {
    const source = (to.name.rank + 3) % 4;
    const { request, pointer } = post(to, source, 20 + source, 60_000);
    after.settle();
    checkReceived({ member: to, request, number: 20 + source, bytes: 60_000 }, source, pointer);
  }
  for (const [rank, request] of large.entries()) {
    const { engine } = after.members[rank]!;
    ok(engine.isComplete(request), `the answer to the send of rank ${rank} has come to where it is now`);
    engine.giveBack(request);
  }
  for (const [rank, { request, pointer }] of posted.entries()) {
    const from = after.member((rank + 2) % 4, 0);
    const send = from.engine.startSend(from.filled(300, 40), 300, rank, 40, context, SendMode.STANDARD);
    after.settle();
    checkReceived({ member: after.member(rank, 0), request, number: 40, bytes: 300 }, from.name.rank, pointer);
    from.engine.giveBack(send);
  }
  for (const { engine } of after.members) equal(engine.records.count, 0);
}

/** What an engine finds rather than has, by name. */
const outsideOf = ({ transport, memory, listener }: Member): [string, object][] =>
  Object.entries({ transport, memory, listener });
