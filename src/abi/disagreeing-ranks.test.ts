/**
 * Ranks that call different collectives, name different roots, refuse their arguments or leave parts out, in the simulated world:
 * every rank returns, somebody with an error, and the next collective, which all of them call alike, goes well. Counts that differ
 * are in mismatched-counts.test.ts, real runs in test/c-disagree.test.ts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tries } from "../../test/long.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import type { TestProgram } from "./testing/program.ts";
import { ERRORS_RETURN, INFO_NULL, INT, SELF, TestRanks, WORLD } from "./testing/ranks.ts";

const SUM = 0x21;
/** MPI_UNWEIGHTED. */
const unweighted = 10;
const elements = 8;
/** MPI_MODE_CREATE and MPI_MODE_RDWR. */
const createAndWrite = 2 | 32;

type Call = (c: TestProgram, size: number) => number;

const buffer = (c: TestProgram, size = 1): number => c.alloc(4 * elements * size);
const lists = (c: TestProgram, size: number, counts = elements): number[] => [
  c.ints(...new Array<number>(size).fill(counts)),
  c.ints(...Array.from({ length: size }, (_, i) => i * counts)),
];

/** As all ranks call them. Roots are rank 0. */
const calls: Readonly<Record<string, Call>> = {
  barrier: (c) => c.call("MPI_Barrier", WORLD),
  bcast: (c) => c.call("MPI_Bcast", buffer(c), elements, INT, 0, WORLD),
  gather: (c, size) => c.call("MPI_Gather", buffer(c), elements, INT, buffer(c, size), elements, INT, 0, WORLD),
  gatherv: (c, size) =>
    c.call("MPI_Gatherv", buffer(c), elements, INT, buffer(c, size), ...lists(c, size), INT, 0, WORLD),
  scatter: (c, size) => c.call("MPI_Scatter", buffer(c, size), elements, INT, buffer(c), elements, INT, 0, WORLD),
  scatterv: (c, size) =>
    c.call("MPI_Scatterv", buffer(c, size), ...lists(c, size), INT, buffer(c), elements, INT, 0, WORLD),
  allgather: (c, size) => c.call("MPI_Allgather", buffer(c), elements, INT, buffer(c, size), elements, INT, WORLD),
  allgatherv: (c, size) =>
    c.call("MPI_Allgatherv", buffer(c), elements, INT, buffer(c, size), ...lists(c, size), INT, WORLD),
  alltoall: (c, size) => c.call("MPI_Alltoall", buffer(c, size), elements, INT, buffer(c, size), elements, INT, WORLD),
  alltoallv: (c, size) => {
    const [counts, offsets] = lists(c, size) as [number, number];
    return c.call("MPI_Alltoallv", buffer(c, size), counts, offsets, INT, buffer(c, size), counts, offsets, INT, WORLD);
  },
  reduce: (c) => c.call("MPI_Reduce", buffer(c), buffer(c), elements, INT, SUM, 0, WORLD),
  allreduce: (c) => c.call("MPI_Allreduce", buffer(c), buffer(c), elements, INT, SUM, WORLD),
  scan: (c) => c.call("MPI_Scan", buffer(c), buffer(c), elements, INT, SUM, WORLD),
  exscan: (c) => c.call("MPI_Exscan", buffer(c), buffer(c), elements, INT, SUM, WORLD),
  reduce_scatter_block: (c, size) =>
    c.call("MPI_Reduce_scatter_block", buffer(c, size), buffer(c), elements, INT, SUM, WORLD),
  reduce_scatter: (c, size) =>
    c.call("MPI_Reduce_scatter", buffer(c, size), buffer(c), lists(c, size)[0]!, INT, SUM, WORLD),
};

/** The group of all ranks. */
const everybody = (c: TestProgram): number => c.get("MPI_Comm_group", WORLD);

/** Functions that make communicators, as all ranks call them. */
const makers: Readonly<Record<string, Call>> = {
  dup: (c) => c.call("MPI_Comm_dup", WORLD, c.alloc(4)),
  idup: (c) => startAndWait(c, "MPI_Comm_idup", WORLD, c.alloc(4)),
  split: (c) => c.call("MPI_Comm_split", WORLD, 3, 5, c.alloc(4)),
  create: (c) => c.call("MPI_Comm_create", WORLD, everybody(c), c.alloc(4)),
  cart: (c, size) => c.call("MPI_Cart_create", WORLD, 1, c.ints(size), c.ints(0), 0, c.alloc(4)),
  dist_graph: (c, size) => {
    const ranks = c.ints(...Array.from({ length: size }, (_, rank) => rank));
    const degrees = c.ints(...new Array<number>(size).fill(1));
    return c.call("MPI_Dist_graph_create", WORLD, size, ranks, degrees, ranks, unweighted, INFO_NULL, 0, c.alloc(4));
  },
};

/** Functions of which only the end of a program told others before. Rank 0 leads one side, the last rank the other. */
const partialMakers: Readonly<Record<string, Call>> = {
  file_open: (c) => c.call("MPI_File_open", WORLD, c.text("file"), createAndWrite, INFO_NULL, c.alloc(4)),
  create_group: (c) => c.call("MPI_Comm_create_group", WORLD, everybody(c), 5, c.alloc(4)),
  intercomm: (c, size) => {
    const { rank } = c.program.process;
    return c.call("MPI_Intercomm_create", SELF, 0, WORLD, rank === 0 ? size - 1 : 0, 7, c.alloc(4));
  },
  spawn: (c) => c.call("MPI_Comm_spawn", c.text("child.c"), 0, 1, INFO_NULL, 0, WORLD, c.alloc(4), 0),
};

/** Starts a non-blocking form, and waits for it. */
function startAndWait(c: TestProgram, name: string, ...args: readonly number[]): number {
  const request = c.alloc(4);
  const code = c.call(name, ...args, request);
  return code === 0 ? c.call("MPI_Wait", request, 0) : code;
}

const allPlaces = [
  { size: 2, nodes: 1, boards: true },
  { size: 3, nodes: 1, boards: true },
  { size: 3, nodes: 1, boards: false },
  { size: 5, nodes: 2, boards: false },
  { size: 8, nodes: 1, boards: false },
] as const;
/** The last has as many ranks as the others together. */
const places = allPlaces.slice(0, tries(4, 5));
type PlaceOf = (typeof places)[number];

function newRanks({ size, nodes, boards }: PlaceOf): TestRanks {
  const ranks = new TestRanks(size, { nodes, ...(boards ? { boards: { count: 4, bytesMax: 256 } } : {}) });
  ranks.all((c) => c.call("MPI_Comm_set_errhandler", WORLD, ERRORS_RETURN));
  ranks.all((c) => c.call("MPI_Comm_set_errhandler", SELF, ERRORS_RETURN));
  return ranks;
}

const titleOf = ({ size, nodes, boards }: PlaceOf): string =>
  `${size} ranks on ${nodes} nodes${boards ? ", with boards" : ""}`;

/** Disagreements in one place after another. Collectives that all call alike go well after each. */
class Disagreements {
  readonly #place: PlaceOf;
  readonly #after: readonly string[];
  #ranks: TestRanks;

  constructor(place: PlaceOf, after: readonly string[] = ["allreduce", "alltoall"]) {
    this.#place = place;
    this.#after = after;
    this.#ranks = newRanks(place);
  }

  /** What each rank returns. */
  run(what: string, act: (c: TestProgram, rank: number) => number): number[] {
    const { size, boards } = this.#place;
    // Ranks that have disagreed leave their board.
    if (boards) this.#ranks = newRanks(this.#place);
    const ranks = this.#ranks;
    let codes: number[];
    try {
      codes = ranks.all(act);
    } catch (error) {
      throw new Error(`${what}: ${(error as Error).message}`);
    }
    for (const name of this.#after) {
      const next = ranks.all((c, rank) => {
        // Only the leaders of the two sides call it.
        if (name === "intercomm" && rank > 0 && rank < size - 1) return 0;
        return (calls[name] ?? makers[name] ?? partialMakers[name]!)(c, size);
      });
      assert.deepEqual(next, new Array(size).fill(0), `${name} after ${what}, which gave ${codes}`);
    }
    for (const c of ranks.programs) c.end();
    return codes;
  }
}

const someError = (codes: readonly number[], what: string): void =>
  assert.ok(
    codes.some((code) => code !== 0),
    what,
  );

describe("M4 §6 ranks that disagree about a collective", () => {
  for (const place of places) {
    test(`one of ${titleOf(place)} calls another function than the others`, () => {
      const disagreements = new Disagreements(place);
      const names = Object.keys(calls);
      for (const [i, usual] of names.entries()) {
        // Every function meets a few others, and all do in the end.
        for (const other of [4, 1, 7].slice(0, tries(1, 3)).map((step) => names[(i + step) % names.length]!)) {
          for (const odd of [0, place.size - 1]) {
            const what = `${usual}, but ${other} at rank ${odd}`;
            disagreements.run(what, (c, rank) => calls[rank === odd ? other : usual]!(c, place.size));
          }
        }
      }
    });

    test(`one of ${titleOf(place)} makes a communicator meanwhile, or another one than the others`, () => {
      const disagreements = new Disagreements(place, ["allreduce", "dup", "split"]);
      const names = Object.keys(makers);
      for (const [i, making] of names.entries()) {
        const others = { barrier: calls["barrier"]!, allgather: calls["allgather"]!, ...makers };
        for (const other of ["barrier", "allgather", names[(i + 2) % names.length]!] as const) {
          for (const odd of [0, place.size - 1]) {
            for (const [usual, unusual] of [
              [making, other],
              [other, making],
            ] as const) {
              const what = `${usual}, but ${unusual} at rank ${odd}`;
              const codes = disagreements.run(what, (c, rank) =>
                others[(rank === odd ? unusual : usual) as keyof typeof others]!(c, place.size),
              );
              // Functions that make the same communicator may well make it together.
              if (!(other in makers)) someError(codes, what);
            }
          }
        }
      }
    });

    test(`one of ${titleOf(place)} opens a file, makes a group's communicator, leads a side or spawns meanwhile`, () => {
      const { size } = place;
      // Words of a group or a leader that nobody took are void: the next call has the same tag.
      const disagreements = new Disagreements(place, ["allreduce", "create_group", "intercomm"]);
      const run = (what: string, act: (c: TestProgram, rank: number) => number): void =>
        someError(disagreements.run(what, act), what);
      const { barrier, allreduce } = calls;
      const { dup, split, cart } = makers;
      const others = tries(1, 2) === 1 ? { allreduce, split } : { barrier, allreduce, dup, split, cart };
      for (const [name, maker] of Object.entries(partialMakers)) {
        for (const [other, call] of Object.entries(others) as [string, Call][]) {
          const isLed = name === "intercomm";
          const partial = (c: TestProgram, rank: number): number =>
            (isLed && rank > 0 && rank < size - 1 ? call : maker)(c, size);
          for (const odd of [0, size - 1]) {
            const what = `${other}, but ${name} at rank ${odd}`;
            run(what, (c, rank) => (rank === odd ? partial(c, rank) : call(c, size)));
            const opposite = `${name}, but ${other} at rank ${odd}`;
            run(opposite, (c, rank) => (rank === odd ? call(c, size) : partial(c, rank)));
          }
        }
      }
    });

    if (place.size > 2) {
      test(`${titleOf(place)} make communicators of groups in a circle`, () => {
        const { size } = place;
        const disagreements = new Disagreements(place, ["allreduce", "create_group"]);
        const pair = (c: TestProgram, rank: number, tag: number): number => {
          const group = c.alloc(4);
          c.call("MPI_Group_incl", everybody(c), 2, c.ints(rank, (rank + 1) % size), group);
          return c.call("MPI_Comm_create_group", WORLD, c.int(group), tag, c.alloc(4));
        };
        const isError = (codes: readonly number[]): void =>
          assert.deepEqual(codes, new Array(size).fill(ErrorClass.OTHER));
        isError(disagreements.run("a circle", (c, rank) => pair(c, rank, 5)));
        isError(disagreements.run("a circle with tags of its own", (c, rank) => pair(c, rank, rank)));
      });
    }

    test(`one of ${titleOf(place)} refuses its arguments where a communicator is made`, () => {
      const disagreements = new Disagreements(place, ["allreduce", "dup"]);
      const { size } = place;
      const refusals: Readonly<Record<string, readonly [Call, number]>> = {
        dup: [(c) => c.call("MPI_Comm_dup", WORLD, 0), ErrorClass.ARG],
        split: [(c) => c.call("MPI_Comm_split", WORLD, -7, 0, c.alloc(4)), ErrorClass.ARG],
        create: [(c) => c.call("MPI_Comm_create", WORLD, 0x108, c.alloc(4)), ErrorClass.GROUP],
        cart: [(c) => c.call("MPI_Cart_create", WORLD, -1, c.ints(size), c.ints(0), 0, c.alloc(4)), ErrorClass.DIMS],
        dist_graph: [(c) => c.call("MPI_Dist_graph_create", WORLD, -1, 0, 0, 0, 0, 0, 0, c.alloc(4)), ErrorClass.ARG],
      };
      for (const [name, [refused, error]] of Object.entries(refusals)) {
        for (const odd of [0, size - 1]) {
          const what = `${name}, refused at rank ${odd}`;
          const codes = disagreements.run(what, (c, rank) => (rank === odd ? refused : makers[name]!)(c, size));
          assert.equal(codes[odd], error, what);
          assert.ok(
            codes.every((code) => code !== 0),
            `${what}: ${codes}`,
          );
        }
      }
    });

    test(`one of ${titleOf(place)} names another root`, () => {
      const disagreements = new Disagreements(place);
      const { size } = place;
      const rooted = {
        bcast: (c: TestProgram, root: number) => c.call("MPI_Bcast", buffer(c), elements, INT, root, WORLD),
        gather: (c: TestProgram, root: number) =>
          c.call("MPI_Gather", buffer(c), elements, INT, buffer(c, size), elements, INT, root, WORLD),
        scatter: (c: TestProgram, root: number) =>
          c.call("MPI_Scatter", buffer(c, size), elements, INT, buffer(c), elements, INT, root, WORLD),
        reduce: (c: TestProgram, root: number) =>
          c.call("MPI_Reduce", buffer(c), buffer(c), elements, INT, SUM, root, WORLD),
      };
      for (const [name, call] of Object.entries(rooted)) {
        for (const odd of [0, size - 1]) {
          disagreements.run(`${name} with another root at rank ${odd}`, (c, rank) => call(c, rank === odd ? 1 : 0));
        }
      }
    });

    test(`one of ${titleOf(place)} refuses its arguments`, () => {
      const disagreements = new Disagreements(place);
      const { size } = place;
      const badCount = -1;
      const badAddress = 3;
      for (const odd of [0, size - 1]) {
        const what = `a bad argument at rank ${odd}`;
        const bcast = disagreements.run(what, (c, rank) =>
          c.call("MPI_Bcast", buffer(c), rank === odd ? badCount : elements, INT, 0, WORLD),
        );
        assert.equal(bcast[odd], ErrorClass.COUNT, what);
        if (odd === 0)
          assert.ok(
            bcast.every((code) => code !== 0),
            `${what}: ${bcast}`,
          );
        const allreduce = disagreements.run(what, (c, rank) =>
          c.call("MPI_Allreduce", buffer(c), buffer(c), elements, rank === odd ? 0 : INT, SUM, WORLD),
        );
        assert.ok(
          allreduce.every((code) => code !== 0),
          `${what}: ${allreduce}`,
        );
        const lists = disagreements.run(`a bad list at rank ${odd}`, (c, rank) => {
          const [counts, offsets] = [rank === odd ? badAddress : c.ints(...new Array(size).fill(1)), c.alloc(4 * size)];
          return c.call("MPI_Allgatherv", buffer(c), 1, INT, buffer(c, size), counts, offsets, INT, WORLD);
        });
        assert.equal(lists[odd], ErrorClass.ARG);
        assert.ok(
          lists.every((code) => code !== 0),
          `${what}: ${lists}`,
        );
        const started = disagreements.run(`a bad count at rank ${odd}, non-blocking`, (c, rank) =>
          startAndWait(c, "MPI_Ibcast", buffer(c), rank === odd ? badCount : elements, INT, 0, WORLD),
        );
        someError(started, "non-blocking");
      }
    });

    test(`one of ${titleOf(place)} leaves its parts of an all-to-all out`, () => {
      const disagreements = new Disagreements(place);
      const { size } = place;
      for (const odd of [0, size - 1]) {
        for (const side of ["send", "receive"]) {
          for (const form of ["MPI_Alltoallw", "MPI_Ialltoallw"]) {
            const what = `${form}, empty to ${side} at rank ${odd}`;
            const codes = disagreements.run(what, (c, rank) => {
              const of = (mine: string): number[] => {
                const [counts, offsets] = lists(c, size, rank === odd && side === mine ? 0 : elements) as [
                  number,
                  number,
                ];
                const bytes = c.ints(...c.list(offsets, size).map((offset) => 4 * offset));
                return [buffer(c, size), counts, bytes, c.ints(...new Array<number>(size).fill(INT))];
              };
              const args = [...of("send"), ...of("receive"), WORLD];
              return form === "MPI_Alltoallw" ? c.call(form, ...args) : startAndWait(c, form, ...args);
            });
            someError(codes, what);
            assert.ok(
              codes.every((code) => code === 0 || code === ErrorClass.TRUNCATE),
              `${what}: ${codes}`,
            );
          }
        }
      }
    });

    test(`one of ${titleOf(place)} calls the non-blocking form`, () => {
      const disagreements = new Disagreements(place);
      for (const odd of [0, place.size - 1]) {
        const codes = disagreements.run(`MPI_Ibcast at rank ${odd}`, (c, rank) =>
          rank === odd
            ? startAndWait(c, "MPI_Ibcast", buffer(c), elements, INT, 0, WORLD)
            : c.call("MPI_Bcast", buffer(c), elements, INT, 0, WORLD),
        );
        if (place.boards) someError(codes, "one waits at the board");
        else assert.deepEqual(codes, new Array(place.size).fill(0), "messages are the same");
      }
    });
  }
});
