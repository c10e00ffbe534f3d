/** Revoking communicators: everything on them ends in every member, whatever way it travels and whoever dies. ULFM. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tries } from "../../../test/long.ts";
import type { SimProcess, Steps } from "../../sim/sim-process.ts";
import { ByHand } from "../../sim/testing/scripted-world.ts";
import { World } from "../../sim/world.ts";
import type { Pointer, RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG, PROC_NULL } from "../base/constants.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import { Now } from "../p2p/engine.ts";
import { messageWays } from "../p2p/testing/message-ways.ts";
import { R_ERROR, SendMode } from "../request/records.ts";
import { PacketKind } from "../wire/packet.ts";
import { Agree } from "./agree.ts";
import type { Communicator } from "./communicator.ts";
import { partitionedContext, worldContext } from "./context.ts";
import { CreateInter, Duplicate, Shrink, Split } from "./new-communicators.ts";
import type { Task } from "./task.ts";

const { REVOKED, PROC_FAILED, PROC_FAILED_PENDING } = ErrorClass;
const nowhere = 0 as Pointer;

function* errorOf(process: SimProcess, request: RecordId): Steps<number> {
  yield request;
  const error = process.engine.records.get(request, R_ERROR);
  process.engine.giveBack(request);
  return error;
}

function* run<T extends Task>(process: SimProcess, task: T): Steps<T> {
  yield* errorOf(process, process.core.start(task));
  return task;
}

function writeInt({ core }: SimProcess, value: number): Pointer {
  const at = core.memory.allocate(4);
  new Int32Array(core.memory.bytes.buffer, at, 1)[0] = value;
  return at;
}

const barrier = (process: SimProcess, comm: Communicator): Steps<number> =>
  errorOf(process, process.core.collectives.startEqual(comm, "barrier", nowhere, nowhere, {}));

describe("ULFM revoke ends what waits, and what comes later", () => {
  for (const { name, bytes, world, sendLent, receiveLent } of messageWays) {
    it(`messages that travel ${name}: matched ones are whole, others end with REVOKED, at whatever moment`, () => {
      let [whole, revoked] = [0, 0];
      for (let moment = 0; moment < 40; moment++) {
        const hand = new ByHand({ ...world, seed: moment + 1 });
        const { core } = hand.world.processes[moment % 2]!;
        hand.world.plan(moment * 400, () => {
          core.revocations.revoke(core.world);
          hand.world.wake(core.rank);
        });
        const sends = [1, 2, 3].map((tag) => hand.send({ from: 0, to: 1, bytes, number: tag, tag, lent: sendLent }));
        const synchronous = { from: 0, to: 1, bytes, tag: 4, lent: sendLent, mode: SendMode.SYNCHRONOUS };
        sends.push(hand.send(synchronous));
        const receives = [1, 2, 9].map((tag) =>
          hand.receive({ at: 1, source: 0, tag, room: bytes, lent: receiveLent }),
        );
        hand.settle();
        for (const request of sends) assert.ok([0, REVOKED].includes(hand.end(0, request).error));
        for (const [i, request] of receives.entries()) {
          const { error } = hand.end(1, request, undefined);
          assert.ok([0, REVOKED].includes(error), `error ${error}`);
          if (i === 2) assert.equal(error, REVOKED);
          if (error === 0) whole++;
          else revoked++;
        }
        assert.deepEqual(hand.leftBehind(), [], `moment ${moment}`);
      }
      assert.ok(whole > 0 && revoked > 40, `${whole} whole, ${revoked} revoked`);
    });
  }

  it("every kind of call that is started later, in all contexts of the communicator; other communicators go on", () => {
    const world = new World({ ranks: 3, nodes: 2 });
    world.startAll(function* (process) {
      const { core, rank, engine } = process;
      const copy = (yield* run(process, new Duplicate(core.world))).result!;
      assert.equal(yield* barrier(process, copy), 0);
      if (rank === 1) core.revocations.revoke(core.world);
      yield process.until("the news", () => core.world.isRevoked);
      const started = [
        core.startSend(core.world, nowhere, 0, 0, 5, SendMode.STANDARD),
        core.startSend(core.world, nowhere, 0, PROC_NULL, 5, SendMode.STANDARD),
        core.startReceive(core.world, nowhere, 0, 0, 5),
        core.startReceive(core.world, nowhere, 0, ANY_SOURCE, ANY_TAG),
        engine.startSend(nowhere, 0, 0, 5, partitionedContext(worldContext), SendMode.STANDARD),
        engine.startReceive(nowhere, 0, 0, 5, partitionedContext(worldContext)),
        core.collectives.startEqual(core.world, "bcast", nowhere, nowhere, {}),
      ];
      for (const request of started) assert.equal(yield* errorOf(process, request), REVOKED);
      assert.equal(engine.sendNow(nowhere, 0, 0, 5, worldContext), false);
      assert.equal(engine.receiveNow(nowhere, 0, 0, 5, worldContext), Now.MUST_POST);
      assert.equal(core.failures.errorOfProbe(core.world, 0), REVOKED);
      for (const task of [new Duplicate(core.world), new Split(core.world, 0, 0)]) {
        assert.equal((yield* run(process, task)).error, REVOKED);
        assert.equal(task.result, null);
      }
      // The short ways are open where nothing is revoked.
      assert.equal(engine.sendNow(nowhere, 0, (rank + 1) % 3, 5, copy.context), true);
      assert.equal(yield* errorOf(process, core.startReceive(copy, nowhere, 0, ANY_SOURCE, 5)), 0);
      assert.equal(yield* barrier(process, copy), 0);
      assert.equal(engine.records.count, 0);
    });
    assert.deepEqual(world.run(), []);
  });

  it("a collective that some never come to, whatever it moves; also across an inter-communicator", () => {
    for (let seed = 1; seed <= tries(24, 60); seed++) {
      const world = new World({ ranks: 6, nodes: 1 + (seed % 3), seed, sharesInside: seed % 2 === 0 });
      const bytes = [1, 100, 200_000][seed % 3]!;
      let ended = 0;
      world.startAll(function* (process) {
        const { core, rank } = process;
        const half = (yield* run(process, new Split(core.world, rank % 2, 0))).result!;
        const inter = (yield* run(process, new CreateInter(half, 0, core.world, 1 - (rank % 2), 1))).result!;
        const [comm, other] = seed % 4 < 2 ? [core.world, inter] : [inter, core.world];
        assert.equal(yield* barrier(process, other), 0);
        if (rank === seed % 6) {
          yield process.compute((seed * 997) % 50_000);
          core.revocations.revoke(comm);
        } else {
          const room = core.memory.allocate(bytes * 6);
          const from = core.memory.allocate(bytes);
          const call = { bytes, inPlace: comm === core.world };
          const request = core.collectives.startEqual(comm, "allgather", from, room, call);
          const error = yield* errorOf(process, request);
          // Across an inter-communicator nobody needs what its own side brings.
          assert.ok(error === REVOKED || (comm === inter && error === 0), `error ${error}`);
          if (error === REVOKED) ended++;
        }
        assert.equal(yield* barrier(process, half), 0);
        yield process.until("its messages", () => core.engine.records.count === 0);
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
      assert.ok(ended >= 3, `seed ${seed}: ${ended} ended`);
    }
  });

  it("a message that a matched probe has set aside: its sender need not wait for the program", () => {
    const hand = new ByHand({ ranks: 2, nodes: 2 });
    const send = hand.send({ from: 0, to: 1, bytes: 100_000, tag: 3 });
    const small = hand.send({ from: 0, to: 1, bytes: 10, tag: 4 });
    hand.settle();
    const aside = [3, 4].map((tag) => hand.probeAside(1, 0, tag, worldContext));
    const { core } = hand.world.processes[1]!;
    core.revocations.revoke(core.world);
    hand.settle();
    assert.equal(hand.end(0, send).error, REVOKED);
    assert.equal(hand.end(0, small).error, 0);
    for (const envelope of aside) assert.equal(hand.end(1, hand.receiveMatched(1, envelope)).error, REVOKED);
    assert.deepEqual(hand.leftBehind(), []);
  });
});

describe("ULFM revoke reaches everybody", () => {
  it("although the one who revokes dies, if any survivor has heard of it", () => {
    let some = 0;
    const seeds = tries(100, 300);
    for (let seed = 1; seed <= seeds; seed++) {
      const world = new World({
        ranks: 7,
        nodes: 3,
        seed,
        cost: { detectionNs: 40_000, inFlightAtCrash: (["lost", "either"] as const)[seed % 2]! },
      });
      world.planCrash(1_000 + ((seed * 71) % 6_000), 0);
      world.startAll(function* ({ core, rank, compute }) {
        yield compute(1_000);
        if (rank === 0) core.revocations.revoke(core.world);
      });
      assert.deepEqual(world.run(), []);
      const heard = world.processes.slice(1).map(({ core }) => core.world.isRevoked);
      if (heard.includes(true)) some++;
      assert.ok(!heard.includes(true) || !heard.includes(false), `seed ${seed}: ${heard}`);
    }
    assert.ok(some > seeds / 6 && some < seeds, `${some} of ${seeds} were heard of`);
  });

  it("also before they have made the communicator", () => {
    let early = 0;
    for (let seed = 1; seed <= tries(40, 100); seed++) {
      const world = new World({ ranks: 5, nodes: 3, seed });
      world.startAll(function* (process) {
        const { core, rank } = process;
        yield process.compute((rank * seed * 131) % 7_000);
        const copy = yield* run(process, new Duplicate(core.world));
        assert.equal(copy.error, 0);
        const comm = copy.result!;
        if (comm.isRevoked) early++;
        core.revocations.revoke(comm);
        assert.equal(yield* barrier(process, comm), REVOKED);
        core.freeCommunicator(comm);
        // What comes again about one that is gone does no harm, and its context is not used again.
        assert.equal(yield* barrier(process, core.world), 0);
        assert.equal(core.isKnownContext(comm.context), true);
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
    }
    assert.ok(early > 0);
  });

  it("also who is making a communicator of it while others have given up", () => {
    let made = 0;
    for (let seed = 1; seed <= tries(40, 100); seed++) {
      const world = new World({ ranks: 5, nodes: 2, seed });
      world.startAll(function* (process) {
        const { core, rank } = process;
        const comm = (yield* run(process, new Duplicate(core.world))).result!;
        if (rank === seed % 5) yield process.compute((seed * 67) % 5_000);
        const task = new Duplicate(comm);
        if (rank !== seed % 5 || seed % 2 === 0) {
          const request = core.start(task);
          if (rank === seed % 5) core.revocations.revoke(comm);
          yield* errorOf(process, request);
          assert.ok([0, REVOKED].includes(task.error));
          // Who has got one although others have not finds out.
          if (task.error === 0) {
            made++;
            const error = yield* barrier(process, task.result!);
            assert.ok([0, REVOKED].includes(error));
          }
        } else core.revocations.revoke(comm);
        const rest = (yield* run(process, new Shrink(comm))).result!;
        assert.equal(yield* barrier(process, rest), 0);
        yield process.until("the rest", () => core.engine.records.count === 0);
      });
      assert.deepEqual(world.run(), [], `seed ${seed}`);
    }
    assert.ok(made > 0);
  });
});

describe("ULFM strangers", () => {
  it("are not believed: neither that a communicator is revoked nor what its members have agreed on", () => {
    const world = new World({ ranks: 4 });
    world.startAll(function* (process) {
      const { core, rank, engine } = process;
      const half = (yield* run(process, new Split(core.world, rank % 2, 0))).result!;
      const { context } = half;
      const other = core.communicators.get(context)!.rank;
      // What the others' half is called is told to them.
      const told = core.startSend(core.world, writeInt(process, context), 4, rank ^ 1, 1, SendMode.STANDARD);
      const heard = core.memory.allocate(4);
      assert.equal(yield* errorOf(process, core.startReceive(core.world, heard, 4, rank ^ 1, 1)), 0);
      assert.equal(yield* errorOf(process, told), 0);
      const theirs = new Int32Array(core.memory.bytes.buffer, heard, 1)[0]!;
      for (const member of [0, 1, 2, 3].filter((each) => each % 2 !== rank % 2)) {
        engine.outbox.announce(member, PacketKind.REVOKE, [theirs]);
        engine.outbox.announce(member, PacketKind.AGREEMENT, [theirs, 0, 3, 0x7fffffff, 99, 0, 0]);
      }
      const { flags } = yield* run(process, new Agree(half, 6 + other));
      assert.equal(flags, 6);
      assert.equal(yield* barrier(process, half), 0);
      assert.equal(half.isRevoked, false);
    });
    assert.deepEqual(world.run(), []);
  });
});

describe("ULFM failures are acknowledged", () => {
  it("receives from anybody end at a death, are refused until it is acknowledged, and leave the dead out then", () => {
    const world = new World({ ranks: 4 });
    world.planCrash(50_000, 3);
    world.startAll(function* (process) {
      const { core, rank, engine } = process;
      if (rank === 3) return;
      const receive = (tag: number): RecordId => core.startReceive(core.world, nowhere, 0, ANY_SOURCE, tag);
      if (rank === 0) {
        assert.equal(yield* errorOf(process, receive(1)), PROC_FAILED_PENDING);
        assert.equal(yield* errorOf(process, receive(1)), PROC_FAILED_PENDING);
        assert.equal(core.failures.errorOfProbe(core.world, ANY_SOURCE), PROC_FAILED_PENDING);
        assert.equal(core.failures.errorOfProbe(core.world, 3), PROC_FAILED);
        assert.deepEqual(core.failures.of(core.world).worldRanks(), [3]);
        assert.deepEqual(core.failures.of(core.self).worldRanks(), []);
        assert.deepEqual(core.failures.acknowledgedOf(core.world).worldRanks(), []);
        assert.equal(core.failures.acknowledge(core.world, 0), 0);
        assert.equal(core.failures.acknowledge(core.world, 5), 1);
        assert.equal(core.failures.errorOfProbe(core.world, ANY_SOURCE), 0);
        assert.equal(yield* errorOf(process, receive(1)), 0);
        assert.equal(yield* errorOf(process, core.startReceive(core.world, nowhere, 0, 3, 1)), PROC_FAILED);
        // One that is there is received whatever has not been acknowledged.
        core.world.acknowledged = 0;
        core.failures.acknowledge(core.world, 0);
        yield process.until("a message", () => engine.probe(ANY_SOURCE, 2, worldContext) >= 0);
        assert.equal(yield* errorOf(process, receive(2)), 0);
      } else {
        yield process.until("the death", () => core.failures.count !== 0);
        yield process.compute(100_000);
        for (const tag of rank === 1 ? [1, 2] : []) {
          const send = core.startSend(core.world, nowhere, 0, 0, tag, SendMode.STANDARD);
          assert.equal(yield* errorOf(process, send), 0);
        }
      }
    });
    assert.deepEqual(world.run(), []);
  });
});
