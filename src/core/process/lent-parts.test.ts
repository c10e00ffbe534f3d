/** Collectives whose parts stay where the programs have them, on boards of simulated nodes (ADR 81). Row M3. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tries } from "../../../test/long.ts";
import type { SimProcess } from "../../sim/sim-process.ts";
import { World } from "../../sim/world.ts";
import { ErrorClass } from "../base/mpi-error.ts";
import type { BoardKind } from "../coll/engine/board.ts";
import { predefinedTypes } from "../comm/datatype/datatype-predefined.ts";
import { predefinedOps } from "../comm/op/op-predefined.ts";
import { R_ERROR } from "../request/records.ts";
import { reductionFor } from "./reduction.ts";

/** Beyond what simulated boards lend from, and within what they hold. */
const bytes = 48;
const ints = bytes / 4;
const rounds = 12;
const kinds = ["allgather", "alltoall", "allreduce", "reduce"] as const satisfies readonly BoardKind[];
const sum = reductionFor(predefinedOps.SUM, predefinedTypes.INT32_T);

interface Called {
  readonly error: number;
  readonly result: Int32Array;
}

/** What a rank gives in a round, to each other. */
const given = (round: number, rank: number, to: number): number => 1 + round * 1000 + rank * 10 + to;

type Kind = (typeof kinds)[number];

interface Call {
  readonly kind: Kind;
  readonly round: number;
  readonly inPlace: boolean;
}

function* call({ core, engine, memory, rank }: SimProcess, { kind, round, inPlace }: Call) {
  const { world, ranks } = core;
  const all = bytes * ranks;
  const [send, receive] = [memory.allocate(all), memory.allocate(all)];
  const wordsAt = (at: number): Int32Array => new Int32Array(memory.bytes.buffer, at, all / 4);
  const isInReceive = inPlace && (kind !== "reduce" || rank === 0);
  const own = wordsAt(isInReceive ? receive : send);
  const first = isInReceive && kind === "allgather" ? rank * ints : 0;
  for (let to = 0; to < (kind === "alltoall" ? ranks : 1); to++) {
    own.fill(given(round, rank, to), first + to * ints, first + (to + 1) * ints);
  }
  const how = { bytes, root: 0, inPlace: isInReceive, form: "blocking" } as const;
  const request =
    kind === "reduce" || kind === "allreduce"
      ? core.collectives.startReduction(world, kind, send, receive, how, sum)
      : core.collectives.startEqual(world, kind, send, receive, how);
  yield request;
  const error = engine.records.get(request, R_ERROR);
  engine.giveBack(request);
  const result = wordsAt(receive).slice();
  // They are the program's again.
  wordsAt(send).fill(-7);
  wordsAt(receive).fill(-9);
  memory.free(send);
  memory.free(receive);
  return { error, result } satisfies Called;
}

function expected({ kind, round }: Call, rank: number, ranks: number): number[] {
  const from = (source: number) => given(round, source, kind === "alltoall" ? rank : 0);
  const sources = Array.from({ length: ranks }, (_, source) => from(source));
  if (kind === "allgather" || kind === "alltoall") return sources.flatMap((word) => new Array<number>(ints).fill(word));
  if (kind === "reduce" && rank !== 0) return [];
  return new Array<number>(ints).fill(sources.reduce((a, b) => a + b));
}

const callOf = (round: number): Call => ({ kind: kinds[round % 4]!, round, inPlace: round % 3 === 2 });
const boards = { count: 4, bytesMax: 4_096 };
const sizes = [2, 3, 5];

describe("ADR 81: parts that are lent", () => {
  for (const ranks of sizes) {
    test(`${ranks} members get what was given, and have their buffers for themselves afterwards`, () => {
      for (let seed = 1; seed <= tries(20, 300); seed++) {
        const world = new World({ ranks, nodes: 1, seed, boards, cost: { jitterNs: 50_000 } });
        world.startAll(function* (process) {
          for (let round = 0; round < rounds; round++) {
            yield process.compute((seed * (process.rank + 1) * 977 * (round + 1)) % 20_000);
            const wanted = callOf(round);
            const { error, result } = yield* call(process, wanted);
            assert.equal(error, 0);
            const right = expected(wanted, process.rank, ranks);
            assert.deepEqual([...result.subarray(0, right.length)], right, `seed ${seed}, ${wanted.kind}`);
          }
        });
        assert.deepEqual(world.run(), [], `seed ${seed}`);
        assert.ok(world.boardCounts.lent > 0);
        // Reductions have a second round where there are two operands.
        const lending = ranks === 2 ? rounds : rounds / 2;
        assert.equal(world.boardCounts.meetings, rounds + lending);
      }
    });

    test(`a member of ${ranks} dies at any moment: the others get what was given, or PROC_FAILED, and nobody waits`, () => {
      let [went, failed] = [0, 0];
      for (let seed = 1; seed <= tries(60, 1000); seed++) {
        const world = new World({ ranks, nodes: 1, seed, boards, cost: { jitterNs: 20_000, detectionNs: 10_000 } });
        world.startAll(function* (process) {
          for (let round = 0; round < rounds; round++) {
            const wanted = callOf(round);
            const { error, result } = yield* call(process, wanted);
            if (error !== 0) {
              assert.equal(error, ErrorClass.PROC_FAILED);
              failed++;
              return;
            }
            went++;
            const right = expected(wanted, process.rank, ranks);
            assert.deepEqual([...result.subarray(0, right.length)], right, `seed ${seed}, ${wanted.kind}`);
          }
        });
        world.planCrash(1_000 + seed * 1_337, seed % ranks);
        assert.deepEqual(world.run(), [], `seed ${seed}`);
      }
      assert.ok(went > 0 && failed > 0, `${went} went well, ${failed} failed`);
    });
  }

  test("members whose lengths disagree are told so, and none waits for a second round", () => {
    for (let seed = 1; seed <= 20; seed++) {
      for (const kind of ["allgather", "allreduce"] as const) {
        const world = new World({ ranks: 2, nodes: 1, seed, boards, cost: { jitterNs: 20_000 } });
        const errors: number[] = [];
        world.startAll(function* ({ core, engine, memory, rank }) {
          const [send, receive] = [memory.allocate(256), memory.allocate(512)];
          const how = { bytes: rank === 0 ? bytes : [8, 64][seed % 2]!, form: "blocking" } as const;
          const request =
            kind === "allgather"
              ? core.collectives.startEqual(core.world, kind, send, receive, how)
              : core.collectives.startReduction(core.world, kind, send, receive, how, sum);
          yield request;
          errors.push(engine.records.get(request, R_ERROR));
        });
        assert.deepEqual(world.run(), []);
        assert.deepEqual(errors, [ErrorClass.TRUNCATE, ErrorClass.TRUNCATE]);
      }
    }
  });
});
