// M4: topologies (MPI 5.0 chapter 8) and M3: collectives among neighbours (§8.6).
import assert from "node:assert/strict";
import { mpi } from "banyan";
import { check, codeOf, done, range } from "./checks.ts";

const { world } = mpi;
const { rank, size } = world;

await check("M4 §8.5.2 dims_create", () => {
  assert.deepEqual(mpi.dimsCreate(12, [0, 0]), [4, 3]);
  assert.deepEqual(mpi.dimsCreate(12, [0, 2, 0]), [3, 2, 2]);
  assert.equal(
    codeOf(() => mpi.dimsCreate(5, [2, 0])),
    mpi.ERR.DIMS,
  );
});

await check("M4 §8.5 grids: create, coords, rank, shift, get, map, dup", () => {
  const dims = mpi.dimsCreate(size, [0, 0]);
  const grid = world.cartCreate(dims, { periods: [true, false] })!;
  assert.equal(grid.topology, mpi.CART);
  assert.equal(world.topology, mpi.UNDEFINED);
  const [row, column] = grid.cartCoords();
  assert.equal(grid.cartRank([row!, column!]), grid.rank);
  assert.equal(grid.cartRank([row! + dims[0]!, column!]), grid.rank);
  assert.equal(
    codeOf(() => grid.cartRank([0, dims[1]!])),
    mpi.ERR.ARG,
  );
  const { source, dest } = grid.cartShift(0);
  assert.equal(dest, grid.cartRank([row! + 1, column!]));
  assert.equal(source, grid.cartRank([row! - 1, column!]));
  const edge = grid.cartShift(1, 1);
  assert.equal(edge.dest === mpi.PROC_NULL, column === dims[1]! - 1);
  const into = new Float64Array(1);
  grid.sendrecv(Float64Array.of(grid.rank), { dest }, into, { source });
  assert.equal(into[0], source);
  assert.deepEqual(grid.cartGet(), { dims, periods: [true, false], coords: [row, column] });
  assert.deepEqual(grid.dup().cartGet().dims, dims);
  assert.equal(world.cartMap(dims), rank);
  assert.equal(
    codeOf(() => world.cartCoords()),
    mpi.ERR.TOPOLOGY,
  );
  assert.equal(
    codeOf(() => world.cartCreate([size + 1])),
    mpi.ERR.ARG,
  );
  const smaller = world.cartCreate([Math.max(1, size - 1)]);
  assert.equal(smaller === null, size > 1 && rank === size - 1);
});

await check("M4 §8.5.7 cart_sub: rows and columns", () => {
  const dims = mpi.dimsCreate(size, [0, 0]);
  const grid = world.cartCreate(dims)!;
  const [row, column] = grid.cartCoords();
  const rows = grid.cartSub([false, true]);
  assert.deepEqual([rows.size, rows.rank, rows.cartGet().dims], [dims[1], column, [dims[1]]]);
  assert.equal(rows.allreduce(Int32Array.of(row!), "sum")[0], row! * dims[1]!);
  const columns = grid.cartSub([true, false]);
  assert.deepEqual([columns.size, columns.rank], [dims[0], row]);
});

await check("M3 §8.6 neighbour collectives on a ring and on a line", () => {
  for (const periodic of [true, false]) {
    const ring = world.cartCreate([size], { periods: [periodic] })!;
    const before = periodic || rank > 0 ? (rank - 1 + size) % size : null;
    const behind = periodic || rank < size - 1 ? (rank + 1) % size : null;
    const all = ring.neighborAllgather(Int32Array.of(rank, 7), { into: new Int32Array(4).fill(-1) });
    assert.deepEqual(
      [...all],
      [...(before === null ? [-1, -1] : [before, 7]), ...(behind === null ? [-1, -1] : [behind, 7])],
    );
    // What I send to the one before comes there from behind.
    const exchanged = ring.neighborAlltoall(Int32Array.of(rank * 10, rank * 10 + 1));
    assert.deepEqual([...exchanged], [before === null ? 0 : before * 10 + 1, behind === null ? 0 : behind * 10]);
    assert.deepEqual([...ring.ineighborAlltoall(Int32Array.of(rank * 10, rank * 10 + 1)).wait()], [...exchanged]);
    assert.deepEqual([...ring.ineighborAllgather(Int32Array.of(rank)).wait()], [before ?? 0, behind ?? 0]);
    const persistent = ring.neighborAllgatherInit(Int32Array.of(rank));
    for (let i = 0; i < 3; i++) assert.deepEqual([...persistent.start().wait()], [before ?? 0, behind ?? 0]);
    const into = [new Float64Array(1), new Float64Array(1)];
    ring.neighborAlltoallw([Float64Array.of(rank), Float64Array.of(-rank)], { into });
    assert.deepEqual([into[0]![0]!, into[1]![0]!], [before === null ? 0 : -before, behind ?? 0]);
    ring.ineighborAlltoallw([Float64Array.of(1), Float64Array.of(2)], { into }).wait();
    assert.equal(into[0]![0], before === null ? 0 : 2);
    ring
      .neighborAlltoallwInit([Float64Array.of(1), Float64Array.of(2)], { into })
      .start()
      .wait();
  }
});

await check("M3 §8.6 v forms: a grid of two dimensions", () => {
  const grid = world.cartCreate(mpi.dimsCreate(size, [0, 0]), { periods: [true, true] })!;
  const { sources, destinations } = grid.neighbors;
  assert.equal(sources.length, 4);
  const mine = new Int16Array(rank + 1).fill(rank);
  const counts = sources.map((source) => source + 1);
  const gathered = grid.neighborAllgatherv(mine, { counts });
  assert.deepEqual(
    [...gathered],
    sources.flatMap((source) => new Array(source + 1).fill(source)),
  );
  assert.deepEqual([...grid.ineighborAllgatherv(mine, { counts }).wait()], [...gathered]);
  assert.deepEqual([...grid.neighborAllgathervInit(mine, { counts }).start().wait()], [...gathered]);
  const sendCounts = destinations.map((to) => to + 1);
  const recvCounts = sources.map(() => rank + 1);
  const out = Int16Array.from(destinations.flatMap((to) => new Array(to + 1).fill(rank)));
  const exchanged = grid.neighborAlltoallv(out, { sendCounts, recvCounts });
  assert.deepEqual(
    [...exchanged],
    sources.flatMap((source) => new Array(rank + 1).fill(source)),
  );
  assert.deepEqual([...grid.ineighborAlltoallv(out, { sendCounts, recvCounts }).wait()], [...exchanged]);
  assert.deepEqual([...grid.neighborAlltoallvInit(out, { sendCounts, recvCounts }).start().wait()], [...exchanged]);
  assert.equal(
    codeOf(() => grid.neighborAllgatherv(mine, { counts: [1] })),
    mpi.ERR.COUNT,
  );
});

await check("M4 §8.5.3 graphs", () => {
  // A star: 0 in the middle.
  const index = range(size).map((node) => size - 1 + node);
  const edges = [...range(size).slice(1), ...range(size - 1).map(() => 0)];
  const star = world.graphCreate(index, edges)!;
  assert.equal(star.topology, mpi.GRAPH);
  assert.deepEqual(star.graphGet(), { index, edges });
  assert.deepEqual(star.graphNeighbors(), rank === 0 ? range(size).slice(1) : [0]);
  assert.deepEqual([...star.neighborAllgather(Int32Array.of(rank))], rank === 0 ? range(size).slice(1) : [0]);
  assert.equal(world.graphMap(index, edges), rank);
  assert.equal(
    codeOf(() => star.cartCoords()),
    mpi.ERR.TOPOLOGY,
  );
  assert.equal(
    codeOf(() => world.graphCreate([1], [5])),
    mpi.ERR.TOPOLOGY,
  );
});

await check("M4 §8.5.4 distributed graphs, adjacent and general, with weights", () => {
  const [right, left] = [(rank + 1) % size, (rank - 1 + size) % size];
  const ring = world.distGraphCreateAdjacent({ sources: [left], destinations: [right] });
  assert.equal(ring.topology, mpi.DIST_GRAPH);
  assert.deepEqual([...ring.neighborAllgather(Float64Array.of(rank))], [left]);
  assert.deepEqual([...ring.neighborAlltoall(Float64Array.of(rank))], [left]);
  const weighted = world.distGraphCreateAdjacent({
    sources: [left, left],
    destinations: [right, right],
    sourceWeights: [1, 2],
    destinationWeights: [3, 4],
  });
  assert.deepEqual(weighted.distGraphNeighbors().sourceWeights, [1, 2]);
  assert.deepEqual([...weighted.neighborAlltoall(Int32Array.of(rank, rank + 100))], [left, left + 100]);
  // Rank 0 brings all edges of the ring: everybody learns its own.
  const brought =
    rank === 0
      ? {
          sources: range(size),
          degrees: range(size).map(() => 1),
          destinations: range(size).map((each) => (each + 1) % size),
          weights: range(size),
        }
      : { sources: [], degrees: [], destinations: [], weights: [] };
  const general = world.distGraphCreate(brought);
  assert.deepEqual(general.distGraphNeighbors(), {
    sources: [left],
    destinations: [right],
    sourceWeights: [left],
    destinationWeights: [rank],
  });
  assert.deepEqual([...general.neighborAllgather(Int32Array.of(rank))], [left]);
  const alone = world.distGraphCreateAdjacent({ sources: [], destinations: [] });
  assert.equal(alone.neighborAllgather(Int32Array.of(rank)).length, 0);
  assert.equal(alone.neighborAlltoall(new Int32Array(0)).length, 0);
  assert.equal(
    codeOf(() => world.distGraphNeighbors()),
    mpi.ERR.TOPOLOGY,
  );
});

done();
