/** The data plane beside the engine (ADR 20): random programs with a plane and without (testing/plane-pair.ts). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tries } from "../../../test/long.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import {
  allEagerBytes,
  ample,
  COMM_WORLD,
  ERRORS_RETURN,
  Pair,
  run,
  seedFirst,
  stepsPerProgram,
} from "./testing/plane-pair.ts";
import { type PlaneWorldOptions, WAITS } from "./testing/plane-world.ts";
import type { Step } from "./testing/random-calls.ts";

const programs = tries(5, 12);
/** Where fewer come to the same situations. */
const fewPrograms = tries(2, 12);

describe("ADR 20: a data plane does what the engine does", () => {
  for (const ranks of [1, 2, 3]) {
    test(`random programs of ${ranks} ranks, step by step`, () => {
      let [done, sent, received] = [0, 0, 0];
      for (let i = 0; i < programs; i++) {
        const eagerBytes = i % 3 === 0 ? 4096 : 1024;
        const pair = new Pair({ ranks, eagerBytes, firstPosition: i % 2 === 0 ? 0 : -40 });
        done += run(pair, seedFirst * 1000 + i);
        pair.count();
        sent += pair.sent;
        received += pair.received;
      }
      assert.ok(done > programs * stepsPerProgram, "most programs get far");
      assert.ok(
        sent > done / 10 && received > done / 20,
        `planes took part: ${done} steps, ${sent} sent, ${received} received`,
      );
    });
  }

  test("ADR 26: planes of ranks that share a thread wait themselves", () => {
    let waits = 0;
    for (let i = 0; i < 2 * programs; i++) {
      const pair = new Pair({ ranks: 2 + (i % 3), planeWaits: "receives" });
      run(pair, seedFirst * 5000 + i);
      pair.count();
      waits += pair.waits;
    }
    assert.ok(waits > 100, `${waits} waits`);
  });

  for (const planeWaits of ["none", "receives"] as const) {
    const whose = planeWaits === "receives" ? " of planes that wait themselves" : "";
    test(`ADR 26: exchanges${whose}, and messages that are taken from behind others`, () => {
      for (let i = 0; i < 2 * fewPrograms; i++) {
        const looksAhead = i % 3 === 0 ? 1 : ample.slots >> 1;
        const room = { ...ample, looksAhead, firstPosition: i % 2 === 0 ? 0 : -40 };
        const pair = new Pair({ ranks: 1 + (i % 4), planeWaits, ...room });
        run(pair, seedFirst * 6000 + i, { imagesEvery: i % 4 === 3 ? 41 : 0, killAt: i % 4 === 2 ? 40 + 5 * i : -1 });
      }
    });
  }

  for (const planeWaits of ["none", "receives"] as const) {
    const whose = planeWaits === "receives" ? " of planes that wait themselves" : "";
    test(`ADR 76: requests${whose}, with images, deaths and tracers in between`, () => {
      let [adopted, received, done] = [0, 0, 0];
      for (let i = 0; i < 4 * fewPrograms; i++) {
        const looksAhead = i % 5 === 0 ? 1 : ample.slots >> 1;
        const room = { ...ample, eagerBytes: allEagerBytes, looksAhead, firstPosition: i % 2 === 0 ? 0 : -40 };
        const pair = new Pair({ ranks: 1 + (i % 4), planeWaits, beginsRequests: true, ...room });
        done += run(pair, seedFirst * 7600 + i, {
          imagesEvery: i % 4 === 3 ? 41 : 0,
          killAt: i % 8 === 2 ? 40 + 5 * i : -1,
          traceAt: i % 8 === 5 ? 30 + i : -1,
          collectives: i % 3 === 0 ? 10 : 0,
        });
        pair.count();
        adopted += pair.adopted;
        received += pair.received;
      }
      assert.ok(adopted > done / 50 && received > done / 20, `${done} steps: ${adopted} adopted, ${received} received`);
    });
  }

  for (const planeWaits of ["none", "receives"] as const) {
    const whose = planeWaits === "receives" ? ", of planes that wait themselves" : "";
    test(`images that are taken in between are exchanged between the two ways${whose}`, () => {
      let [sent, received] = [0, 0];
      for (let i = 0; i < fewPrograms; i++) {
        const pair = new Pair({ ranks: 2, planeWaits });
        run(pair, seedFirst * 2000 + i, { imagesEvery: 41 });
        pair.count();
        sent += pair.sent;
        received += pair.received;
      }
      assert.ok(sent > 0 && received > 0);
    });
  }

  test("ADR 42: a rank that has received all there was need not look once more when it sends", () => {
    const pair = new Pair({ ranks: 2, planeWaits: "receives" });
    for (let rank = 0; rank < 2; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const rounds = 150;
    for (let i = 0; i < rounds; i++) {
      // Rank 0 sends while a message waits for it.
      for (const [rank, name] of [
        [1, "MPI_Send"],
        [0, "MPI_Send"],
        [1, "MPI_Recv"],
        [0, "MPI_Recv"],
      ] as const) {
        const args = [4096, 1, 0x214, 1 - rank, 0, COMM_WORLD];
        assert.equal(pair.call(rank, { name, args: name === "MPI_Recv" ? [...args, 0] : args }), 0);
      }
    }
    pair.count();
    assert.deepEqual([pair.sent, pair.received], [2 * rounds, 2 * rounds]);
  });

  test("ADR 82: beside sockets every 64th call of a plane looks there, and is the engine's when something has come", () => {
    let [taken, looks] = [0, 0];
    for (let i = 0; i < 2 * programs; i++) {
      const random = new SeededRandom(i);
      const pair = new Pair({ ranks: 2 + (i % 3), ...ample, sockets: () => random.bits() % 3 === 0 });
      run(pair, seedFirst * 8200 + i, { collectives: i % 2 === 0 ? 0 : 30 });
      pair.count();
      taken += pair.sent + pair.received + pair.completed;
      looks += pair.planed.looks;
    }
    assert.ok(taken > 1_000 && looks > taken / 70, `${looks} looks in ${taken} calls`);
  });

  test("ADR 82: what goes to other nodes and comes from there is the engine's", () => {
    let [sent, received] = [0, 0];
    for (let i = 0; i < 2 * programs; i++) {
      const pair = new Pair({ ranks: 3 + (i % 2), ...ample, sockets: () => false, elsewhere: i % 3 });
      run(pair, seedFirst * 8300 + i, { imagesEvery: i % 4 === 3 ? 41 : 0, killAt: i % 4 === 2 ? 40 + 5 * i : -1 });
      pair.count();
      sent += pair.sent;
      received += pair.received;
    }
    assert.ok(sent > 0 && received > 0, `${sent} sent, ${received} received`);
  });

  test("ADR 82: a message from another node that waits keeps no plane from receiving from its own", () => {
    const pair = new Pair({ ranks: 3, ...ample, sockets: () => false, elsewhere: 2 });
    for (let rank = 0; rank < 3; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const message = (name: string, peer: number, tag = 0): Step => ({
      name,
      args: [4096, 1, 0x214, peer, tag, COMM_WORLD, ...(name === "MPI_Recv" ? [0] : [])],
    });
    const receivedByPlane = (): number => pair.planed.ranks[0]!.process.pass.received;
    /** Of ten messages that rank 0 gets from rank 1 while one of that rank waits. */
    const takenBehind = (from: number): number => {
      assert.equal(pair.call(from, message("MPI_Send", 0, 7)), 0);
      assert.equal(pair.call(0, { name: "MPI_Iprobe", args: [from, 7, COMM_WORLD, 2048, 0] }), 0);
      const before = receivedByPlane();
      for (let i = 0; i < 10; i++) {
        for (const [rank, name] of [
          [0, "MPI_Send"],
          [1, "MPI_Recv"],
          [1, "MPI_Send"],
          [0, "MPI_Recv"],
        ] as const) {
          assert.equal(pair.call(rank, message(name, 1 - rank)), 0);
        }
      }
      return receivedByPlane() - before;
    };
    // The first is the engine's, whose pass the message has closed.
    assert.equal(takenBehind(2), 9);
    // One of its own node might be wanted.
    assert.equal(takenBehind(1), 0);
  });

  test("a rank dies in between", () => {
    for (let i = 0; i < 2 * fewPrograms; i++) {
      const pair = new Pair({ ranks: 3, planeWaits: i % 2 === 1 ? "receives" : "none" });
      run(pair, seedFirst * 3000 + (i >> 1), { killAt: 40 + 5 * (i >> 1) });
    }
  });

  test("a tracer comes in between, and is told everything", () => {
    let told = 0;
    for (let i = 0; i < fewPrograms; i++) {
      const pair = new Pair({ ranks: 2 });
      run(pair, seedFirst * 4000 + i, { traceAt: 10 + 5 * i });
      told += pair.told;
    }
    assert.ok(told > 100, "tracers were told something");
  });
});

describe("ADR 25: collectives in the data plane are those of the engine", () => {
  const options = (ranks: number, i: number): Omit<PlaneWorldOptions, "hasPlane"> => ({
    ranks,
    firstPosition: i % 2 === 0 ? 0 : -40,
    boardBytes: [128, 256, 1024][i % 3]!,
    longBytes: [1024, 512, 4096][i % 3]!,
    longBoards: [3, 1, 3, 0][i % 4]!,
    // Two in three lend, from little on or what is too long for the board.
    lentBytesMin: [64, 0x7fffffff, 768][i % 3]!,
  });

  for (const ranks of [1, 2, 3, 5, 8]) {
    test(`random programs of ${ranks} ranks, step by step`, () => {
      let [done, completed, left] = [0, 0, 0];
      for (let i = 0; i < fewPrograms; i++) {
        const pair = new Pair(options(ranks, i));
        done += run(pair, seedFirst * 5000 + 100 * ranks + i, { collectives: 40 });
        pair.count();
        completed += pair.completed;
        left += pair.left;
      }
      assert.ok(done > fewPrograms * stepsPerProgram, "most programs get far");
      assert.ok(
        completed > done / 50 && (left > 0 || ranks === 1),
        `planes took part: ${completed} of ${done}, ${left} left`,
      );
    });
  }

  // Collectives alone: a rank that finds its gate open has read no messages, which the engine would have.
  test("ranks wait at gates without their engines, and images are exchanged in between", () => {
    let [completed, left] = [0, 0];
    for (let i = 0; i < fewPrograms; i++) {
      const pair = new Pair({ ...options(2 + (i % 4), i), ...ample, planeWaits: "collectives" });
      run(pair, seedFirst * 9000 + i, { collectives: 100, imagesEvery: i % 3 === 0 ? 47 : 0 });
      pair.count();
      completed += pair.completed;
      left += pair.left;
    }
    assert.ok(completed > 2 * left && left > 0, `${completed} completed, ${left} left to the engine`);
  });

  test("ranks disagree, refuse arguments and ask each other", () => {
    let completed = 0;
    for (let i = 0; i < fewPrograms; i++) {
      const pair = new Pair(options(2 + (i % 3), i));
      run(pair, seedFirst * 6000 + i, { collectives: 40, mayDiffer: true });
      pair.count();
      completed += pair.completed;
    }
    assert.ok(completed > 0);
  });

  test("ADR 42: packets that were taken from behind others send nobody to its engine", () => {
    const pair = new Pair({ ...options(4, 0), ...ample, looksAhead: 8, planeWaits: "all" });
    for (let rank = 0; rank < 4; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const message = (name: string, peer: number): Step => ({
      name,
      args: [4096, 1, 0x214, peer, 0, COMM_WORLD, ...(name === "MPI_Recv" ? [0] : [])],
    });
    for (const from of [1, 2, 3]) assert.equal(pair.call(from, message("MPI_Send", 0)), 0);
    // The first of the ring is taken last, and the two behind it are void.
    for (const from of [3, 2, 1]) assert.equal(pair.call(0, message("MPI_Recv", from)), 0);
    const barrier: Step = { name: "MPI_Barrier", args: [COMM_WORLD] };
    for (const rank of [0, 1, 2]) assert.equal(pair.call(rank, barrier), WAITS);
    assert.equal(
      pair.alike("waits on", ({ ranks }) => ranks[0]!.goOn()),
      WAITS,
    );
    assert.equal(pair.call(3, barrier), 0);
    for (const rank of [0, 1, 2])
      assert.equal(
        pair.alike("goes on", ({ ranks }) => ranks[rank]!.goOn()),
        0,
      );
    pair.count();
    assert.deepEqual([pair.completed, pair.left], [4, 0]);
  });

  test("ADR 42: the root of a scatter has room for more than its block, or for less", () => {
    const MPI_INT = 0x209;
    for (const [room, code] of [
      [3, 15],
      [4, 0],
      [5, 0],
    ] as const) {
      const pair = new Pair({ ...options(2, 0), planeWaits: "collectives" });
      for (const world of pair.worlds) {
        for (const { ints } of world.ranks) for (let i = 0; i < 16; i++) ints[(4096 >> 2) + i] = 100 + i;
      }
      for (let rank = 0; rank < 2; rank++) {
        pair.call(rank, { name: "MPI_Init", args: [0, 0] });
        pair.call(rank, { name: "MPI_Comm_set_errhandler", args: [COMM_WORLD, ERRORS_RETURN] });
      }
      const scatter = (count: number): Step => ({
        name: "MPI_Scatter",
        args: [4096, 4, MPI_INT, 8192, count, MPI_INT, 0, COMM_WORLD],
      });
      assert.equal(pair.call(1, scatter(4)), WAITS);
      assert.equal(pair.call(0, scatter(room)), code);
      assert.equal(
        pair.alike("goes on", ({ ranks }) => ranks[1]!.goOn()),
        0,
      );
      pair.compareMemories();
      const { ints } = pair.planed.ranks[1]!;
      assert.deepEqual([...ints.subarray(8192 >> 2, (8192 >> 2) + 4)], [104, 105, 106, 107]);
      pair.count();
      assert.equal(pair.completed, room === 4 ? 2 : 1, "what is in order is the planes'");
    }
  });

  test("images that are taken in between, also at shut gates, are exchanged between the two ways", () => {
    let completed = 0;
    for (let i = 0; i < fewPrograms; i++) {
      const pair = new Pair(options(2 + (i % 2), i));
      run(pair, seedFirst * 7000 + i, { collectives: 50, imagesEvery: 43 });
      pair.count();
      completed += pair.completed;
    }
    assert.ok(completed > 0);
  });

  test("a rank dies in between", () => {
    for (let i = 0; i < fewPrograms; i++) {
      run(new Pair(options(3, i)), seedFirst * 8000 + i, { collectives: 50, killAt: 20 + 5 * i });
    }
  });
});
