// M4: error handlers, codes and classes (MPI 5.0 chapter 9).
import assert from "node:assert/strict";
import { type Communicator, mpi } from "banyan";
import { check, codeOf, done } from "./checks.ts";

const { world, self } = mpi;
const { size, rank } = world;

await check("M1 §9.3 arguments of messages: standard classes, our sentences", () => {
  const one = new Int32Array(1);
  assert.throws(() => world.send(one, { dest: size }), {
    name: "MpiError",
    code: mpi.ERR.RANK,
    message: `Cannot send to rank ${size}: communicator "world" has ranks 0 to ${size - 1}`,
  });
  assert.equal(
    codeOf(() => world.recv(one, { source: -7 })),
    mpi.ERR.RANK,
  );
  assert.equal(
    codeOf(() => world.send(one, { dest: 0, tag: -1 })),
    mpi.ERR.TAG,
  );
  assert.equal(
    codeOf(() => world.isend(one, { dest: 0, tag: mpi.TAG_UB + 1 })),
    mpi.ERR.TAG,
  );
  assert.equal(
    codeOf(() => world.irecv(one, { tag: 0.5 })),
    mpi.ERR.TAG,
  );
  assert.equal(
    codeOf(() => world.irecv([1] as never)),
    mpi.ERR.BUFFER,
  );
  assert.equal(
    codeOf(() => world.send({ data: one, type: mpi.INT, count: 2 }, { dest: 0 })),
    mpi.ERR.BUFFER,
  );
  assert.equal(
    codeOf(() => world.send({ data: one, type: mpi.INT, count: -1 }, { dest: 0 })),
    mpi.ERR.COUNT,
  );
  world.isend(new Float64Array(4), { dest: rank, tag: 3 }).free();
  assert.equal(
    codeOf(() => world.recv(new Float64Array(2), { source: rank, tag: 3 })),
    mpi.ERR.TRUNCATE,
  );
  world.isend(Uint8Array.of(1, 2, 3), { dest: rank, tag: 4 }).free();
  assert.equal(
    codeOf(() => world.recv({ source: rank, tag: 4 })),
    mpi.ERR.TYPE,
  );
});

await check("M4 §9.3 handlers: functions are called with the communicator, then the call throws", () => {
  const comm = world.dup();
  assert.equal(comm.getErrorHandler(), mpi.ERRORS_RETURN);
  const heard: [Communicator, number][] = [];
  const handler = (where: Communicator, error: { code: number }): void => {
    heard.push([where, error.code]);
  };
  comm.setErrorHandler(handler);
  assert.equal(comm.getErrorHandler(), handler);
  const child = comm.dup();
  assert.equal(
    codeOf(() => comm.send(new Int32Array(1), { dest: 99 })),
    mpi.ERR.RANK,
  );
  assert.equal(
    codeOf(() => child.bcast(new Int32Array(1), { root: 99 })),
    mpi.ERR.ROOT,
  );
  assert.equal(
    codeOf(() => child.cartCoords()),
    mpi.ERR.TOPOLOGY,
  );
  comm.callErrorHandler(mpi.ERR.OTHER);
  assert.deepEqual(
    heard.map(([where, code]) => [where === comm ? "comm" : "child", code]),
    [
      ["comm", mpi.ERR.RANK],
      ["child", mpi.ERR.ROOT],
      ["child", mpi.ERR.TOPOLOGY],
      ["comm", mpi.ERR.OTHER],
    ],
  );
  comm.setErrorHandler(mpi.ERRORS_RETURN);
  assert.equal(
    codeOf(() => comm.send(new Int32Array(1), { dest: 99 })),
    mpi.ERR.RANK,
  );
  assert.equal(heard.length, 4);
  assert.equal(
    codeOf(() => comm.setErrorHandler(5 as never)),
    mpi.ERR.ERRHANDLER,
  );
  const other = new Error("mine");
  comm.setErrorHandler(() => {
    throw other;
  });
  assert.throws(() => comm.send(new Int32Array(1), { dest: 99 }), other);
});

await check("M4 §9.3 errors that concern no communicator go to self's handler", () => {
  const heard: number[] = [];
  self.setErrorHandler((_comm, error) => {
    heard.push(error.code);
  });
  assert.equal(
    codeOf(() => mpi.types.contiguous(mpi.INT, -1)),
    mpi.ERR.COUNT,
  );
  assert.equal(
    codeOf(() => world.group().incl([size])),
    mpi.ERR.RANK,
  );
  assert.equal(
    codeOf(() => mpi.createInfo().delete("x")),
    mpi.ERR.INFO_NOKEY,
  );
  assert.equal(
    codeOf(() => mpi.errorString(99_999)),
    mpi.ERR.ARG,
  );
  assert.deepEqual(heard, [mpi.ERR.COUNT, mpi.ERR.RANK, mpi.ERR.INFO_NOKEY, mpi.ERR.ARG]);
  self.setErrorHandler(mpi.ERRORS_RETURN);
});

await check("M4 §9.3 a request's error goes to the handler of its communicator", () => {
  const comm = world.dup();
  const heard: number[] = [];
  comm.setErrorHandler((_comm, error) => {
    heard.push(error.code);
  });
  const request = comm.irecv(new Uint8Array(1), { source: rank });
  comm.send(Uint8Array.of(1, 2), { dest: rank });
  assert.equal(
    codeOf(() => request.wait()),
    mpi.ERR.TRUNCATE,
  );
  assert.deepEqual(heard, [mpi.ERR.TRUNCATE]);
});

await check("M4 §9.4, §9.5 error classes, codes and strings", () => {
  assert.match(mpi.errorString(mpi.ERR.RANK), /^MPI_ERR_RANK: /);
  assert.equal(mpi.errorClass(mpi.ERR.RANK), mpi.ERR.RANK);
  const errorClass = mpi.addErrorClass();
  const code = mpi.addErrorCode(errorClass);
  mpi.addErrorString(code, "it is Monday");
  assert.deepEqual(
    [mpi.errorClass(code), mpi.errorString(code), mpi.errorString(errorClass)],
    [errorClass, "it is Monday", ""],
  );
  assert.equal(world.getAttribute(mpi.KEYVALS.LASTUSEDCODE), code);
  mpi.removeErrorString(code);
  mpi.removeErrorCode(code);
  mpi.removeErrorClass(errorClass);
  assert.equal(
    codeOf(() => mpi.errorClass(code)),
    mpi.ERR.ARG,
  );
});

await check("M7 §9.1 what the environment says", () => {
  assert.deepEqual(mpi.version, { major: 5, minor: 0 });
  assert.match(mpi.libraryVersion, /^Banyan /);
  assert.deepEqual([mpi.isInitialized, mpi.isFinalized], [true, false]);
  assert.ok(mpi.processorName.length > 0);
  const from = mpi.wtime();
  assert.ok(mpi.wtime() >= from && mpi.wtick() < 1e-3);
});

done();
