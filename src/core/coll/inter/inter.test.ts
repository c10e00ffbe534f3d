import assert from "node:assert/strict";
import { test } from "node:test";
import { PROC_NULL, ROOT } from "../../base/constants.ts";
import { equalBlocks, packed, sum } from "../engine/rounds.ts";
import { CollectiveWorld, type Combine, type Message, rubbish, run, type Setup } from "../testing/collective-world.ts";
import { bytesOf } from "../testing/cost.ts";
import { assertBytes, canonical, pattern, ranksOf, reductions } from "../testing/data.ts";
import { type InterCollective, planInter } from "./plan-inter.ts";

/** A rank of one of the two groups. `at` counts through both. */
interface Member {
  readonly at: number;
  readonly group: 0 | 1;
  readonly rank: number;
  readonly localSize: number;
  readonly remoteSize: number;
}

const groupings: readonly (readonly [number, number])[] = [1, 2, 3, 5, 8, 13].flatMap((first) =>
  [1, 2, 4, 7, 20].map((second) => [first, second] as const),
);

function membersOf([first, second]: readonly [number, number]): Member[] {
  return ranksOf(first + second).map((at) =>
    at < first
      ? { at, group: 0, rank: at, localSize: first, remoteSize: second }
      : { at, group: 1, rank: at - first, localSize: second, remoteSize: first },
  );
}

interface Side {
  readonly send?: Uint8Array;
  /** The wanted contents of the receive buffer; without it the buffer must not be touched. */
  readonly expected?: Uint8Array;
  /** The first contents of the receive buffer. */
  readonly given?: Uint8Array;
}

/** Runs the collective and returns the messages between the groups. */
function inter(
  grouping: readonly [number, number],
  build: (member: Member) => [InterCollective, Side],
  combine?: Combine,
): Message[] {
  const setups = membersOf(grouping).map((member): Setup & Side => {
    const [collective, side] = build(member);
    const receive = side.given ?? (side.expected && rubbish(side.expected.length));
    return { schedule: planInter(collective), ...side, ...(receive === undefined ? {} : { receive }) };
  });
  const [firstGroup] = grouping;
  const messages = run(setups, { seed: setups.length, firstGroup, ...(combine === undefined ? {} : { combine }) });
  for (const [at, { receive, expected }] of setups.entries()) {
    if (expected !== undefined) assertBytes(receive, expected, `member ${at} of ${grouping}`);
  }
  return messages.filter(({ from, to }) => from < firstGroup !== to < firstGroup);
}

/** The root argument of a member, when the root is that rank of the first group. */
const rootFor = ({ group, rank }: Member, root: number): number => {
  if (group === 1) return root;
  return rank === root ? ROOT : PROC_NULL;
};

test("M3 inter-communicator barrier: nobody leaves before the last of both groups has come", () => {
  for (const grouping of groupings) {
    const members = membersOf(grouping);
    for (const late of members.slice(0, 4).concat(members.at(-1)!)) {
      const world = new CollectiveWorld(members.length, { firstGroup: grouping[0] });
      const start = (member: Member) =>
        world.start(member.at, 0, { schedule: planInter({ kind: "barrier", ...member }) });
      for (const member of members) if (member !== late) start(member);
      world.settle();
      for (const finished of world.finished) assert.equal(finished.size, 0);
      start(late);
      world.settle();
      world.checkClean();
    }
  }
});

test("M3 inter-communicator bcast: the other group has the root's bytes, n between the groups", () => {
  for (const grouping of groupings) {
    for (const root of ranksOf(grouping[0])) {
      for (const bytes of [0, 9]) {
        const data = pattern(root, 1, bytes);
        const crossed = inter(grouping, (member) => {
          const side = member.group === 1 ? { expected: data } : member.rank === root ? { given: data } : {};
          return [{ kind: "bcast", ...member, root: rootFor(member, root), bytes }, side];
        });
        assert.equal(bytesOf(crossed), bytes);
      }
    }
  }
});

/** Unequal lengths, one of them 0. */
const lengthsOf = (size: number): number[] => ranksOf(size).map((rank) => (rank * 3 + size) % 5);

/** The blocks of one group, all of them at the root and each at its rank, in the direction of `kind`. */
function checkRooted(kind: "gatherv" | "scatterv"): void {
  const isGather = kind === "gatherv";
  for (const grouping of groupings) {
    for (const root of ranksOf(grouping[0])) {
      const blocks = packed(lengthsOf(grouping[1]));
      const whole = rubbish(sum(blocks.bytes));
      for (const [rank, offset] of blocks.offsets.entries()) whole.set(pattern(rank, 3, blocks.bytes[rank]!), offset);
      inter(grouping, (member) => {
        const named = rootFor(member, root);
        const call = { kind, ...member, root: named } as const;
        if (named === ROOT) return [{ ...call, bytes: 0, blocks }, isGather ? { expected: whole } : { send: whole }];
        if (named === PROC_NULL) return [{ ...call, bytes: 0 }, {}];
        const bytes = blocks.bytes[member.rank]!;
        const own = pattern(member.rank, 3, bytes);
        return [{ ...call, bytes }, isGather ? { send: own } : { expected: own }];
      });
    }
  }
}

test("M3 inter-communicator gather(v): the root has the other group's blocks", () => {
  checkRooted("gatherv");
});

test("M3 inter-communicator scatter(v): the other group has its blocks", () => {
  checkRooted("scatterv");
});

test("M3 inter-communicator allgather(v): each group has the other's blocks, each sent across once, gaps left alone", () => {
  for (const grouping of groupings) {
    for (const gap of [0, 1]) {
      const lengths = grouping.map(lengthsOf);
      const crossed = inter(grouping, (member) => {
        const own = lengths[member.group]![member.rank]!;
        const remote = 1 - member.group;
        const bytes = lengths[remote]!;
        const offsets = packed(bytes.map((length) => length + gap)).offsets;
        const expected = rubbish(sum(bytes) + gap * bytes.length);
        for (const [rank, offset] of offsets.entries()) expected.set(pattern(rank, remote, bytes[rank]!), offset);
        const side = { send: pattern(member.rank, member.group, own), expected };
        return [{ kind: "allgatherv", ...member, bytes: own, blocks: { bytes, offsets } }, side];
      });
      assert.equal(bytesOf(crossed), sum(lengths.flat()));
    }
  }
});

test("M3 inter-communicator alltoall(v, w): every block arrives", () => {
  for (const grouping of groupings) {
    const bytes = (group: number, from: number, to: number) => (group + from * 2 + to * 3) % 4;
    inter(grouping, ({ group, rank, ...place }) => {
      const peers = ranksOf(place.remoteSize);
      const sends = packed(peers.map((peer) => bytes(group, rank, peer)));
      const receives = packed(peers.map((peer) => bytes(1 - group, peer, rank)));
      const send = rubbish(sum(sends.bytes));
      const expected = rubbish(sum(receives.bytes));
      for (const peer of peers) {
        send.set(pattern(rank + group * 50, peer, sends.bytes[peer]!), sends.offsets[peer]!);
        expected.set(pattern(peer + (1 - group) * 50, rank, receives.bytes[peer]!), receives.offsets[peer]!);
      }
      return [
        { kind: "alltoallv", ...place, rank, sends, receives },
        { send, expected },
      ];
    });
  }
});

/** Contributions of both groups, and the canonical result of each. */
function contributions(grouping: readonly [number, number], elements: number, which: number) {
  const { contribution, combine, elementBytes } = reductions[which]!;
  const parts = grouping.map((size, group) => ranksOf(size).map((rank) => contribution(rank + group * 100, elements)));
  const results = parts.map((ofGroup) => canonical(ofGroup, combine));
  return { parts, results, combine, elementBytes, bytes: elements * elementBytes };
}

test("M3 inter-communicator reduce: the root has the canonical bits of the other group, n between the groups", () => {
  for (const grouping of groupings) {
    for (const root of ranksOf(grouping[0]).slice(0, 4)) {
      for (const which of [0, 1, 2]) {
        const { parts, results, combine, elementBytes, bytes } = contributions(grouping, which, which);
        const build = (member: Member): [InterCollective, Side] => {
          const named = rootFor(member, root);
          const side = named === ROOT ? { expected: results[1]! } : { send: parts[member.group]![member.rank]! };
          return [{ kind: "reduce", ...member, root: named, bytes, elementBytes }, named === PROC_NULL ? {} : side];
        };
        assert.equal(bytesOf(inter(grouping, build, combine)), bytes);
      }
    }
  }
});

test("M3 inter-communicator allreduce: each group has the canonical bits of the other, n each way", () => {
  for (const grouping of groupings) {
    for (const which of [0, 1, 2]) {
      const { parts, results, combine, elementBytes, bytes } = contributions(grouping, 3 - which, which);
      const build = (member: Member): [InterCollective, Side] => [
        { kind: "allreduce", ...member, bytes, elementBytes },
        { send: parts[member.group]![member.rank]!, expected: results[1 - member.group]! },
      ];
      assert.equal(bytesOf(inter(grouping, build, combine)), 2 * bytes);
    }
  }
});

test("M3 inter-communicator reduce_scatter(_block): each group has its segments of the other's canonical bits, n each way", () => {
  for (const grouping of groupings) {
    // As many elements as both groups can share out equally.
    const elements = grouping[0] * grouping[1];
    const { parts, results, combine, elementBytes, bytes } = contributions(grouping, elements, 2);
    const build = (member: Member): [InterCollective, Side] => {
      const { bytes: segments, offsets } = equalBlocks(member.localSize, member.remoteSize * elementBytes);
      const offset = offsets[member.rank]!;
      const expected = results[1 - member.group]!.subarray(offset, offset + segments[member.rank]!);
      const send = parts[member.group]![member.rank]!;
      return [
        { kind: "reduce_scatter", ...member, segments, elementBytes },
        { send, expected },
      ];
    };
    assert.equal(bytesOf(inter(grouping, build, combine)), 2 * bytes);
  }
});
