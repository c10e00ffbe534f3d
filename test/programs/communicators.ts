// M4: groups, communicators, inter-communicators, attributes, names, info (MPI 5.0 chapter 7).
import assert from "node:assert/strict";
import { type Communicator, mpi } from "banyan";
import { check, codeOf, done, range } from "./checks.ts";

const { world, self } = mpi;
const { rank, size } = world;
const last = size - 1;
const sumOf = (comm: Communicator): number => comm.allreduce(Float64Array.of(rank), "sum")[0]!;

await check("M4 §7.3 groups: set operations, translation, comparison", () => {
  const all = world.group();
  assert.deepEqual([all.size, all.rank], [size, rank]);
  const even = all.incl(range(size).filter((each) => each % 2 === 0));
  const odd = all.excl(range(size).filter((each) => each % 2 === 0));
  assert.equal(even.union(odd).compare(all), size < 3 ? mpi.IDENT : mpi.SIMILAR);
  assert.equal(even.intersection(odd).size, 0);
  assert.equal(all.difference(even).compare(odd), mpi.IDENT);
  assert.equal(even.rank, rank % 2 === 0 ? rank / 2 : mpi.UNDEFINED);
  assert.deepEqual(
    even.translate(range(even.size), all),
    range(even.size).map((each) => each * 2),
  );
  assert.deepEqual(all.translate([0, mpi.PROC_NULL], odd), [mpi.UNDEFINED, mpi.PROC_NULL]);
  const reversed = all.rangeIncl([[last, 0, -1]]);
  assert.deepEqual(reversed.worldRanks, range(size).reverse());
  assert.equal(all.rangeExcl([[0, last, 1]]).compare(mpi.GROUP_EMPTY), mpi.IDENT);
  assert.equal(self.group().worldRanks[0], rank);
  assert.equal(
    codeOf(() => all.incl([size])),
    mpi.ERR.RANK,
  );
  assert.equal(
    codeOf(() => all.rangeIncl([[0, 1, 0]])),
    mpi.ERR.ARG,
  );
  all.free();
});

await check("M4 §7.4 dup: same members, messages apart, compare", () => {
  const copy = world.dup();
  assert.deepEqual(
    [copy.rank, copy.size, copy.compare(world), world.compare(world)],
    [rank, size, mpi.CONGRUENT, mpi.IDENT],
  );
  const [inCopy, inWorld] = [new Int32Array(1), new Int32Array(1)];
  const requests = [copy.irecv(inCopy, { source: rank }), world.irecv(inWorld, { source: rank })];
  world.send(Int32Array.of(1), { dest: rank });
  copy.send(Int32Array.of(2), { dest: rank });
  mpi.waitAll(requests);
  assert.deepEqual([inCopy[0], inWorld[0]], [2, 1]);
  assert.equal(sumOf(copy), sumOf(world));
  copy.free();
  assert.equal(
    codeOf(() => copy.barrier()),
    mpi.ERR.COMM,
  );
  assert.equal(
    codeOf(() => copy.send(inCopy, { dest: 0 })),
    mpi.ERR.COMM,
  );
  assert.equal(
    codeOf(() => copy.dup()),
    mpi.ERR.COMM,
  );
  assert.equal(
    codeOf(() => world.free()),
    mpi.ERR.COMM,
  );
});

await check("M4 §7.4 idup: several at once, awaited", async () => {
  const requests = range(5).map(() => world.idup());
  const sum = world.iallreduce(Float64Array.of(1), "sum");
  const copies = await Promise.all(requests);
  assert.equal((await sum)[0], size);
  for (const copy of copies) assert.equal(copy.allreduce(Float64Array.of(2), "sum")[0], 2 * size);
  for (const copy of copies.reverse()) copy.free();
  const hinted = world.dupWithInfo({ hint: "yes" });
  assert.equal(hinted.getInfo().get("hint"), "yes");
  assert.equal((await hinted.idupWithInfo(mpi.createInfo())).getInfo().size, 0);
});

await check("M4 §7.4 split: colours, keys, UNDEFINED", () => {
  const part = world.split(rank % 2, -rank)!;
  const mates = range(size).filter((each) => each % 2 === rank % 2);
  assert.deepEqual([part.size, part.rank], [mates.length, mates.length - 1 - (rank >> 1)]);
  assert.equal(
    sumOf(part),
    mates.reduce((a, b) => a + b, 0),
  );
  assert.equal(part.compare(world), size === 1 ? mpi.CONGRUENT : mpi.UNEQUAL);
  const again = part.split(part.rank % 2)!;
  assert.ok(again.size <= part.size);
  assert.equal(again.allgather(rank).includes(rank), true);
  assert.equal(world.split(rank === 0 ? 1 : mpi.UNDEFINED) === null, rank !== 0);
  assert.equal(
    codeOf(() => world.split(-5)),
    mpi.ERR.ARG,
  );
  const backwards = world.split(0, size - rank)!;
  assert.equal(backwards.compare(world), size === 1 ? mpi.CONGRUENT : mpi.SIMILAR);
  assert.equal(backwards.rank, last - rank);
});

await check("M4 §7.4 split_type: the ranks of a node", () => {
  // Ranks lie on the nodes in blocks, the first ones larger by one where they do not divide evenly.
  const nodes = Number(process.argv[2] ?? 1);
  const blocks = range(nodes).flatMap((node) =>
    new Array(Math.floor(size / nodes) + (node < size % nodes ? 1 : 0)).fill(node),
  );
  const nodeOf = (each: number): number => blocks[each]!;
  const mates = range(size).filter((each) => nodeOf(each) === nodeOf(rank)).length;
  const node = world.splitType(mpi.COMM_TYPE_SHARED, { key: rank })!;
  assert.equal(node.size, mates);
  assert.equal(node.allreduce(Int32Array.of(1), "sum")[0], mates);
  assert.equal(world.splitType("hw_unguided")?.size, nodes === 1 ? undefined : mates);
  assert.equal(world.splitType("hw_guided", { info: { mpi_hw_resource_type: "NUMANode" } }), null);
  assert.equal(world.splitType("hw_guided", { info: { mpi_hw_resource_type: "mpi_shared_memory" } })!.size, mates);
  assert.equal(world.splitType(mpi.UNDEFINED), null);
});

await check("M4 §7.4 create and create_group", () => {
  const few = world.group().incl(range(Math.ceil(size / 2)).reverse());
  const made = world.create(few);
  assert.equal(made === null, few.rank === mpi.UNDEFINED);
  if (made !== null) {
    assert.equal(made.rank, few.rank);
    assert.deepEqual(made.allgather(rank), few.worldRanks);
  }
  // Disjoint groups at the same time.
  const mine = world.group().incl(range(size).filter((each) => each % 2 === rank % 2));
  const half = world.create(mine)!;
  assert.deepEqual(half.allgather(rank), mine.worldRanks);
  if (few.rank !== mpi.UNDEFINED) {
    const grouped = world.createGroup(few, { tag: 7 })!;
    assert.deepEqual(grouped.allgather(rank), few.worldRanks);
    grouped.free();
  }
  if (size > 1)
    assert.equal(
      codeOf(() => self.create(world.group())),
      mpi.ERR.GROUP,
    );
});

await check("M4 §7.4 many communicators, made and freed in a loop", () => {
  for (let i = 0; i < 100; i++) {
    const part = world.split(i % 3 === 0 ? 0 : rank % 2)!;
    assert.equal(part.allreduce(Int32Array.of(1), "sum")[0], part.size);
    const copy = part.dup();
    copy.barrier();
    copy.free();
    part.free();
  }
});

await check("M4 §7.4 free lets what is under way end; disconnect waits for it", () => {
  const copy = world.dup();
  const sum = copy.iallreduce(new Float64Array(2000).fill(1), "sum");
  const into = new Int32Array(1);
  const receive = copy.irecv(into, { source: rank, tag: 1 });
  copy.isend(Int32Array.of(8), { dest: rank, tag: 1 }).free();
  copy.free();
  assert.equal(sum.wait()[1999], size);
  assert.equal(receive.wait().source, rank);
  const other = world.dup();
  const reduced = other.iallreduce(new Float64Array(5000).fill(2), "sum");
  other.disconnect();
  assert.equal(reduced.isComplete, true);
  assert.equal(reduced.wait()[0], 2 * size);
  assert.equal(
    codeOf(() => other.disconnect()),
    mpi.ERR.COMM,
  );
});

await check("M4 §7.6 inter-communicators: create, point-to-point, dup, split, merge", () => {
  assert.equal(
    codeOf(() => world.remoteSize),
    mpi.ERR.COMM,
  );
  assert.equal(
    codeOf(() => world.merge()),
    mpi.ERR.COMM,
  );
  if (size === 1) return;
  const isOdd = rank % 2 === 1;
  const mine = world.split(isOdd ? 1 : 0)!;
  const theirs = range(size).filter((each) => (each % 2 === 1) !== isOdd);
  const inter = mine.createInter({
    leader: 0,
    bridge: mine.rank === 0 ? world : null,
    remoteLeader: isOdd ? 0 : 1,
    tag: 5,
  });
  assert.deepEqual(
    [inter.isInter, inter.remoteSize, inter.size, inter.rank],
    [true, theirs.length, mine.size, mine.rank],
  );
  assert.deepEqual(inter.remoteGroup().worldRanks, theirs);
  assert.deepEqual(inter.group().worldRanks, mine.group().worldRanks);
  for (const on of [inter, inter.dup()]) {
    assert.equal(on.compare(inter), on === inter ? mpi.IDENT : mpi.CONGRUENT);
    const requests = theirs.map((_, dest) => on.isend(Int32Array.of(rank), { dest, tag: 2 }));
    for (const [source, other] of theirs.entries()) {
      const into = new Int32Array(1);
      const status = on.recv(into, { source, tag: 2 });
      assert.deepEqual([status.source, into[0]], [source, other]);
    }
    mpi.waitAll(requests);
    assert.equal(
      on.allreduce(Float64Array.of(rank), "sum")[0],
      theirs.reduce((a, b) => a + b, 0),
    );
  }
  const both = inter.merge({ high: isOdd });
  const evenFirst = [...range(size).filter((each) => each % 2 === 0), ...range(size).filter((each) => each % 2 === 1)];
  assert.deepEqual(both.allgather(rank), evenFirst);
  const turned = inter.merge({ high: !isOdd });
  assert.equal(turned.allgather(rank)[0], 1);
  assert.equal(inter.merge().allgather(rank)[0], 0);
  const pairs = inter.split(mine.rank, 0);
  const hasPartner = mine.rank < Math.floor(size / 2);
  assert.equal(pairs === null, !hasPartner);
  if (pairs !== null) {
    assert.deepEqual([pairs.size, pairs.remoteSize], [1, 1]);
    assert.equal(pairs.allgather(rank)[0], rank ^ 1);
  }
  const firsts = inter.create(inter.group().incl([0]));
  assert.equal(firsts === null, mine.rank !== 0);
  if (firsts !== null) assert.deepEqual(firsts.allgather(rank), [isOdd ? 0 : 1]);
  inter.free();
});

await check("M4 §7.7 attributes: copy and delete callbacks, predefined keys", () => {
  const calls: string[] = [];
  const copied = mpi.createKeyval({
    copy: (_comm, value) => {
      calls.push(`copy ${value}`);
      return `${value}'`;
    },
    delete: (comm, value) => {
      calls.push(`delete ${value} of ${comm.name}`);
    },
  });
  const shared = mpi.createKeyval({ copy: "dup" });
  const lost = mpi.createKeyval();
  const comm = world.dup();
  comm.name = "a";
  assert.equal(comm.getAttribute(copied), undefined);
  comm.setAttribute(copied, "x");
  comm.setAttribute(shared, { any: "thing" });
  comm.setAttribute(lost, 1);
  const copy = comm.dup();
  copy.name = "b";
  assert.deepEqual([copy.getAttribute(copied), copy.getAttribute(lost)], ["x'", undefined]);
  assert.equal(copy.getAttribute(shared), comm.getAttribute(shared));
  comm.setAttribute(copied, "y");
  comm.deleteAttribute(copied);
  assert.equal(comm.getAttribute(copied), undefined);
  mpi.freeKeyval(copied);
  assert.equal(
    codeOf(() => comm.setAttribute(copied, 1)),
    mpi.ERR.KEYVAL,
  );
  copy.free();
  assert.deepEqual(calls, ["copy x", "delete x of a", "delete y of a", "delete x' of b"]);
  const refusing = mpi.createKeyval({
    copy: () => {
      throw new mpi.MpiError(mpi.ERR.TOPOLOGY, "no copies");
    },
  });
  comm.setAttribute(refusing, 1);
  assert.equal(
    codeOf(() => comm.dup()),
    mpi.ERR.TOPOLOGY,
  );
  comm.deleteAttribute(refusing);
  assert.equal(world.getAttribute(mpi.KEYVALS.TAG_UB), mpi.TAG_UB);
  assert.ok((world.getAttribute(mpi.KEYVALS.UNIVERSE_SIZE) as number) > size);
  assert.equal(world.getAttribute(mpi.KEYVALS.APPNUM), 0);
  assert.equal(world.getAttribute(mpi.KEYVALS.FT), false);
  assert.equal(
    codeOf(() => world.setAttribute(mpi.KEYVALS.TAG_UB, 1)),
    mpi.ERR.KEYVAL,
  );
  comm.free();
});

await check("M4 §7.8 names, §10 info", () => {
  assert.deepEqual([world.name, self.name], ["world", "self"]);
  const comm = world.dup();
  assert.equal(comm.name, "");
  comm.name = "mine";
  assert.match(comm.label, /mine/);
  assert.equal(
    codeOf(() => Object.assign(comm, { name: "x".repeat(200) })),
    mpi.ERR.ARG,
  );
  comm.setInfo({ mpi_assert_no_any_tag: "true" });
  assert.equal(comm.getInfo().get("mpi_assert_no_any_tag"), "true");
  const info = mpi.createInfo({ a: "1", b: "2" });
  info.set("c", "3");
  info.delete("a");
  assert.deepEqual(
    [...info],
    [
      ["b", "2"],
      ["c", "3"],
    ],
  );
  assert.deepEqual([info.size, info.nthKey(1), info.dup().get("c"), info.get("none")], [2, "c", "3", undefined]);
  assert.deepEqual(
    [[...info.keys()], [...info.values()], Object.fromEntries(info)],
    [["b", "c"], ["2", "3"], { b: "2", c: "3" }],
  );
  assert.deepEqual([info.has("b"), info.has("none")], [true, false]);
  assert.equal(
    codeOf(() => info.delete("none")),
    mpi.ERR.INFO_NOKEY,
  );
  assert.equal(
    codeOf(() => info.set("", "x")),
    mpi.ERR.INFO_KEY,
  );
});

done();
