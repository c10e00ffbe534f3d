/** The data plane under message logging beside the engine: random programs with a plane and without (testing/plane-pair.ts). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tries } from "../../../test/long.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { DeterminantKind } from "../../core/ft/determinants/determinant-stream.ts";
import { allEagerBytes, ample, COMM_WORLD, Pair, run, seedFirst } from "./testing/plane-pair.ts";
import type { Step } from "./testing/random-calls.ts";

const programs = tries(5, 12);
/** Where fewer come to the same situations. */
const fewPrograms = tries(2, 12);

describe("ADR 75: a data plane under message logging does what the engine does, and records what it would", () => {
  for (const ranks of [1, 2, 3, 4]) {
    test(`random programs of ${ranks} ranks, step by step; images are exchanged between the two ways`, () => {
      let [done, sent, received, completed] = [0, 0, 0, 0];
      const recorded = { planed: 0, plain: 0, spared: 0 };
      for (let i = 0; i < programs; i++) {
        const room = i % 3 === 0 ? {} : { ...ample, looksAhead: i % 3 === 1 ? 1 : ample.slots >> 1 };
        const pair = new Pair({ ranks, isLogged: true, firstPosition: i % 2 === 0 ? 0 : -40, ...room });
        const imagesEvery = i % 4 === 3 ? 37 : 0;
        done += run(pair, seedFirst * 7500 + 100 * ranks + i, { imagesEvery, collectives: i % 2 === 0 ? 20 : 0 });
        pair.count();
        sent += pair.sent;
        received += pair.received;
        completed += pair.completed;
        for (const kind of ["planed", "plain", "spared"] as const) recorded[kind] += pair.recorded[kind];
      }
      const counts = `${done} steps, ${sent} sent, ${received} received, ${completed} met; ${JSON.stringify(recorded)}`;
      assert.ok(sent > done / 12 && received > done / 25 && completed > 0, counts);
      assert.ok(recorded.planed > 0 && (ranks <= 2 || recorded.spared === 0), counts);
    });
  }

  for (const planeWaits of ["none", "receives"] as const) {
    const whose = planeWaits === "receives" ? " of planes that wait themselves" : "";
    test(`ADR 86: requests${whose}: their numbers, their handles, and what is recorded of them`, () => {
      let [adopted, received, done] = [0, 0, 0];
      for (let i = 0; i < 4 * fewPrograms; i++) {
        const looksAhead = i % 5 === 0 ? 1 : ample.slots >> 1;
        const room = { ...ample, eagerBytes: allEagerBytes, looksAhead, firstPosition: i % 2 === 0 ? 0 : -40 };
        const pair = new Pair({ ranks: 1 + (i % 4), planeWaits, beginsRequests: true, isLogged: true, ...room });
        const imagesEvery = i % 4 === 3 ? 41 : 0;
        done += run(pair, seedFirst * 8600 + i, { imagesEvery, collectives: i % 3 === 0 ? 10 : 0 });
        pair.count();
        assert.ok(
          pair.ranks <= 2 || pair.recorded.spared === 0,
          "which message a receive from any source took is recorded",
        );
        adopted += pair.adopted;
        received += pair.received;
      }
      assert.ok(adopted > done / 50 && received > done / 20, `${done} steps: ${adopted} adopted, ${received} received`);
    });
  }

  test("ADR 86: a receive that has its message when it is cancelled is recorded by the number that its plane gave it", () => {
    const pair = new Pair({ ranks: 2, isLogged: true, beginsRequests: true });
    for (let rank = 0; rank < 2; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const requestOf = (tag: number): number => 1536 + 4 * tag;
    const call = (rank: number, name: string, ...args: Step["args"]): void => {
      assert.equal(pair.call(rank, { name, args }), 0, name);
    };
    for (const tag of [0, 1, 2]) call(0, "MPI_Irecv", 4096 + 64 * tag, 1, 0x214, 1, tag, COMM_WORLD, requestOf(tag));
    for (const tag of [1, 2]) call(1, "MPI_Send", 4096, 1, 0x214, 0, tag, COMM_WORLD);
    call(0, "MPI_Wait", requestOf(2), 0);
    assert.equal(pair.planed.ranks[0]!.plane!.light!.count, 2, "one waits, one has its message");
    for (const tag of [0, 1]) call(0, "MPI_Cancel", requestOf(tag));
    for (const tag of [0, 1]) call(0, "MPI_Wait", requestOf(tag), 0);
    const { CAME, CANCELLED } = DeterminantKind;
    assert.deepEqual(
      pair.alike("the stream", ({ stream }) => stream.words),
      [4, 0, CANCELLED, 1, 4, 0, CAME, 2],
    );
    pair.compareMemories();
    pair.compareDeterminants();
  });

  test("ADR 82: the same beside sockets, with a rank that is elsewhere", () => {
    let [sent, received] = [0, 0];
    for (let i = 0; i < 2 * programs; i++) {
      const random = new SeededRandom(i);
      const sockets = (): boolean => random.bits() % 4 === 0;
      const pair = new Pair({ ranks: 3 + (i % 2), isLogged: true, ...ample, sockets, elsewhere: i % 3 });
      run(pair, seedFirst * 8400 + i, { imagesEvery: i % 4 === 3 ? 37 : 0 });
      pair.count();
      sent += pair.sent;
      received += pair.received;
    }
    assert.ok(sent > 100 && received > 50, `${sent} sent, ${received} received`);
  });

  for (const isLogged of [false, true]) {
    const whose = isLogged ? " under message logging" : "";
    test(`ADR 86: requests beside sockets${whose}, of which some go elsewhere`, () => {
      let [adopted, received, done] = [0, 0, 0];
      for (let i = 0; i < 6 * fewPrograms; i++) {
        const random = new SeededRandom(i);
        const sockets = (): boolean => random.bits() % 4 === 0;
        const planeWaits = i % 2 === 0 ? "none" : "receives";
        const room = { ...ample, eagerBytes: allEagerBytes, planeWaits, beginsRequests: true, isLogged } as const;
        const pair = new Pair({ ranks: 3 + (i % 2), ...room, sockets, elsewhere: (i % 4) - 1 });
        const killAt = !isLogged && i % 6 === 2 ? 40 + 5 * i : -1;
        done += run(pair, seedFirst * 8700 + i, { imagesEvery: i % 3 === 1 ? 41 : 0, killAt });
        pair.count();
        adopted += pair.adopted;
        received += pair.received;
      }
      assert.ok(
        adopted > done / 200 && received > done / 50,
        `${done} steps: ${adopted} adopted, ${received} received`,
      );
    });
  }

  test("a receive from any source in a communicator of two is no choice, until its process sends to itself", () => {
    const pair = new Pair({ ranks: 2, isLogged: true });
    for (let rank = 0; rank < 2; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const message = (name: string, peer: number): Step => ({
      name,
      args: [4096, 1, 0x214, peer, 0, COMM_WORLD, ...(name === "MPI_Recv" ? [0] : [])],
    });
    const exchange = (from: number, to: number): void => {
      assert.equal(pair.call(from, message("MPI_Send", to)), 0);
      assert.equal(pair.call(to, message("MPI_Recv", -1)), 0);
    };
    for (let i = 0; i < 6; i++) exchange(1, 0);
    const entries = (): number[] => pair.worlds.map(({ stream }) => stream.words.length / 6);
    assert.deepEqual(entries(), [0, 6]);
    exchange(0, 0);
    for (let i = 0; i < 5; i++) exchange(1, 0);
    assert.deepEqual(entries(), [6, 12]);
    pair.compareDeterminants();
    pair.count();
    assert.deepEqual([pair.received, pair.recorded.spared], [12, 6]);
  });

  test("a run of answers that is open closes the pass: the next message closes the run first", () => {
    const pair = new Pair({ ranks: 2, isLogged: true });
    for (let rank = 0; rank < 2; rank++) pair.call(rank, { name: "MPI_Init", args: [0, 0] });
    const send: Step = { name: "MPI_Send", args: [4096, 1, 0x214, 1, 0, COMM_WORLD] };
    const probe: Step = { name: "MPI_Iprobe", args: [1, 0, COMM_WORLD, 2048, 0] };
    for (const step of [send, send, probe, probe, send]) assert.equal(pair.call(0, step), 0);
    const { NOTHING } = DeterminantKind;
    assert.deepEqual(
      pair.alike("the stream", ({ stream }) => stream.words),
      [4, 0, NOTHING, 2],
    );
  });
});
