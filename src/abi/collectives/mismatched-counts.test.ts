/**
 * Collectives whose members name different counts, all of them in the simulated world: everybody returns, with MPI_SUCCESS or
 * MPI_ERR_TRUNCATE, whoever is sent more than fits says so, and no byte beyond a buffer changes. Real runs: test/c-counts.test.ts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { longUnless, tries } from "../../../test/long.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import {
  allgatherHierarchicalBytesMax,
  allgatherShortBytesMax,
  allreduceHierarchicalBytesMax,
  allreduceShortBytesMax,
  alltoallShortBytesMax,
  bcastLongBytes,
  reduceScatterShortBytesMax,
  reduceShortBytesMax,
} from "../../core/coll/select.ts";
import type { TestProgram } from "../testing/program.ts";
import { ERRORS_RETURN, INT, SELF, TestRanks, WORLD } from "../testing/ranks.ts";

const SUM = 0x21;
const guardBytes = 64;
const guard = 0xa5;

/** Elements that a rank says it sends to each other, or receives from each. */
interface Counts {
  readonly send: number;
  readonly receive: number;
}

interface Kind {
  readonly name: string;
  /** How many parts of the receive buffer this rank fills, and of the send buffer. */
  readonly received: (size: number, isRoot: boolean) => number;
  readonly sent: (size: number, isRoot: boolean) => number;
  readonly args: (given: Given) => readonly number[];
  /** Members combine what they get, or pass on what everybody gets: any other length is a mistake. */
  readonly exact?: true;
  /** One count for both sides. */
  readonly oneCount?: true;
}

interface Given {
  readonly c: TestProgram;
  readonly from: number;
  readonly to: number;
  readonly counts: Counts;
  readonly size: number;
  readonly root: number;
}

const one = (): number => 1;
const all = (size: number): number => size;
const atRoot =
  (parts: (size: number) => number) =>
  (size: number, isRoot: boolean): number =>
    isRoot ? parts(size) : 0;
const list = ({ c, size }: Given, value: (i: number) => number): number =>
  c.ints(...Array.from({ length: size }, (_, i) => value(i)));
const layout = (given: Given, count: number) => [list(given, () => count), list(given, (i) => i * count)] as const;

const kinds: readonly Kind[] = [
  {
    name: "bcast",
    sent: atRoot(one),
    received: (_, isRoot) => (isRoot ? 0 : 1),
    exact: true,
    oneCount: true,
    // The root's buffer is what it sends.
    args: ({ from, to, counts, root }) => [to === 0 ? from : to, counts.send, INT, root],
  },
  {
    name: "gather",
    sent: one,
    received: atRoot(all),
    args: ({ from, to, counts, root }) => [from, counts.send, INT, to, counts.receive, INT, root],
  },
  {
    name: "gatherv",
    sent: one,
    received: atRoot(all),
    args: (given) => {
      const { from, to, counts, root } = given;
      return [from, counts.send, INT, to, ...layout(given, counts.receive), INT, root];
    },
  },
  {
    name: "scatter",
    sent: atRoot(all),
    received: one,
    args: ({ from, to, counts, root }) => [from, counts.send, INT, to, counts.receive, INT, root],
  },
  {
    name: "scatterv",
    sent: atRoot(all),
    received: one,
    args: (given) => {
      const { from, to, counts, root } = given;
      return [from, ...layout(given, counts.send), INT, to, counts.receive, INT, root];
    },
  },
  {
    name: "allgather",
    sent: one,
    received: all,
    args: ({ from, to, counts }) => [from, counts.send, INT, to, counts.receive, INT],
  },
  {
    name: "allgatherv",
    sent: one,
    received: all,
    args: (given) => {
      const { from, to, counts } = given;
      return [from, counts.send, INT, to, ...layout(given, counts.receive), INT];
    },
  },
  {
    name: "alltoall",
    sent: all,
    received: all,
    args: ({ from, to, counts }) => [from, counts.send, INT, to, counts.receive, INT],
  },
  {
    name: "alltoallv",
    sent: all,
    received: all,
    args: (given) => {
      const { from, to, counts } = given;
      return [from, ...layout(given, counts.send), INT, to, ...layout(given, counts.receive), INT];
    },
  },
  {
    name: "reduce",
    sent: one,
    received: atRoot(one),
    exact: true,
    oneCount: true,
    args: ({ from, to, counts, root }) => [from, to, counts.send, INT, SUM, root],
  },
  ...(["allreduce", "scan", "exscan"] as const).map((name) => ({
    name,
    sent: one,
    received: one,
    exact: true as const,
    oneCount: true as const,
    args: ({ from, to, counts }: Given) => [from, to, counts.send, INT, SUM],
  })),
  {
    name: "reduce_scatter_block",
    sent: all,
    received: one,
    exact: true,
    oneCount: true,
    args: ({ from, to, counts }) => [from, to, counts.send, INT, SUM],
  },
  {
    name: "reduce_scatter",
    sent: all,
    received: one,
    exact: true,
    oneCount: true,
    args: (given) => [given.from, given.to, list(given, () => given.counts.send), INT, SUM],
  },
];

/** Which rank names other counts, on which side, and which. */
interface Odd {
  readonly rank: number;
  readonly counts: Counts;
}

const rootOf = (size: number): number => (size > 2 ? 1 : 0);

function run(kind: Kind, blocking: boolean, ranks: TestRanks, usual: number, odd: Odd): string {
  const size = ranks.programs.length;
  const root = rootOf(size);
  const codes = ranks.all((c, rank) => {
    const counts = rank === odd.rank ? odd.counts : { send: usual, receive: usual };
    const isRoot = rank === root;
    const sendBytes = 4 * counts.send * kind.sent(size, isRoot);
    const receiveBytes = 4 * counts.receive * kind.received(size, isRoot);
    const from = c.alloc(sendBytes + guardBytes);
    const to = receiveBytes === 0 && kind.name === "bcast" && isRoot ? 0 : c.alloc(receiveBytes + guardBytes);
    c.program.bytes.fill(1, from, from + sendBytes);
    c.program.bytes.fill(guard, from + sendBytes, from + sendBytes + guardBytes);
    if (to !== 0) c.program.bytes.fill(guard, to + receiveBytes, to + receiveBytes + guardBytes);
    const args = [...kind.args({ c, from, to, counts, size, root }), WORLD];
    const code = call(c, kind.name, blocking, args);
    for (const end of [from + sendBytes, ...(to === 0 ? [] : [to + receiveBytes])]) {
      const beyond = c.program.bytes.subarray(end, end + guardBytes);
      if (!beyond.every((byte) => byte === guard)) return -1;
    }
    return code;
  });
  for (const c of ranks.programs) c.end();
  return codes.map((code) => (code === 0 ? "ok" : code === ErrorClass.TRUNCATE ? "truncated" : `${code}`)).join(" ");
}

function call(c: TestProgram, name: string, blocking: boolean, args: readonly number[]): number {
  if (blocking) return c.call(`MPI_${name[0]!.toUpperCase()}${name.slice(1)}`, ...args);
  const request = c.alloc(4);
  const code = c.call(`MPI_I${name}`, ...args, request);
  return code === 0 ? c.call("MPI_Wait", request, 0) : code;
}

/** Is anybody sent more than it has room for, or anything else where lengths must be exact? */
function mustBeSeen(kind: Kind, size: number, usual: number, odd: Odd): boolean {
  const root = rootOf(size);
  const of = (rank: number): Counts => (rank === odd.rank ? odd.counts : { send: usual, receive: usual });
  const ranks = Array.from({ length: size }, (_, rank) => rank);
  const differs = odd.counts.send !== usual || odd.counts.receive !== usual;
  if (kind.exact === true) return differs && size > 1;
  return ranks.some(
    (from) =>
      kind.sent(size, from === root) > 0 &&
      ranks.some(
        (to) =>
          kind.received(size, to === root) > 0 &&
          // Where one side is the root's there is no pair without it.
          (kind.sent(size, false) > 0 || from === root) &&
          of(from).send > of(to).receive,
      ),
  );
}

function check(kind: Kind, ranks: TestRanks, usual: number, other: number): void {
  const size = ranks.programs.length;
  const sides: Counts[] = [{ send: other, receive: other }];
  if (kind.oneCount !== true) sides.push({ send: other, receive: usual }, { send: usual, receive: other });
  for (const blocking of [true, false]) {
    for (const rank of new Set([rootOf(size), size - 1])) {
      for (const counts of sides) {
        const odd = { rank, counts };
        const what = `${kind.name}, ${size} ranks, ${usual} elements but ${JSON.stringify(odd)}, blocking: ${blocking}`;
        let said: string;
        try {
          said = run(kind, blocking, ranks, usual, odd);
        } catch (error) {
          throw new Error(`${what}: ${(error as Error).message}`);
        }
        assert.match(said, /^(ok|truncated)( (ok|truncated))*$/, what);
        if (mustBeSeen(kind, size, usual, odd)) assert.match(said, /truncated/, what);
        const matching = run(kind, blocking, ranks, usual, { rank, counts: { send: usual, receive: usual } });
        assert.doesNotMatch(matching, /[^ok ]/, `${what}, and then all alike`);
      }
    }
  }
}

const newRanks = (size: number, nodes: number): TestRanks => {
  const ranks = new TestRanks(size, { nodes });
  for (const comm of [WORLD, SELF]) ranks.all((c) => c.call("MPI_Comm_set_errhandler", comm, ERRORS_RETURN));
  return ranks;
};

/** Elements: usual, and of the one rank. Within an algorithm's lengths, and across its limits; exactly twice as much, too. */
const short = [
  [4, 8],
  [8, 4],
  [6, 5],
  [4, 0],
  [0, 4],
  [300, 301],
] as const;

/**
 * On different sides of the lengths at which an algorithm gives way to another (core/coll/select.ts): ranks wait for messages that
 * nobody sends, until they ask each other.
 */
const acrossLimits: Readonly<Record<string, readonly (readonly [usual: number, other: number])[]>> = {
  bcast: across(bcastLongBytes),
  allgather: across(allgatherShortBytesMax / 4, allgatherHierarchicalBytesMax / 4),
  allgatherv: across(allgatherHierarchicalBytesMax / 4),
  alltoall: across(alltoallShortBytesMax),
  reduce: across(reduceShortBytesMax),
  allreduce: across(allreduceShortBytesMax, allreduceHierarchicalBytesMax),
  reduce_scatter: across(reduceScatterShortBytesMax / 4),
  reduce_scatter_block: across(reduceScatterShortBytesMax / 4),
};

function across(...limits: readonly number[]): readonly (readonly [usual: number, other: number])[] {
  return limits.flatMap((bytes) => {
    const [below, above] = [bytes >> 4, bytes >> 1];
    return [[below, above] as const, [above, below] as const];
  });
}

/** Of worlds in which limits are crossed: the largest takes as long as all others together. */
const sizeMax = tries(3, 9);

describe("M4 §6 counts that do not match", () => {
  for (const kind of kinds) {
    for (const [size, nodes] of [
      [1, 1],
      [2, 1],
      [2, 2],
      [3, 1],
      [4, 2],
      [5, 2],
      [9, 3],
    ] as const) {
      test(`${kind.name} of ${size} ranks on ${nodes} nodes`, longUnless(size <= 4), () => {
        const ranks = newRanks(size, nodes);
        for (const [usual, other] of short) check(kind, ranks, usual, other);
        for (const [usual, other] of size > 1 && size <= sizeMax ? (acrossLimits[kind.name] ?? []) : []) {
          check(kind, ranks, usual, other);
        }
      });
    }
  }
});
