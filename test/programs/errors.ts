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

await check("M1 objects: what cannot be cloned is refused where it is sent, what is no object where it is read", () => {
  const comm = world.dup();
  const heard: string[] = [];
  comm.setErrorHandler((_comm, error) => {
    heard.push(error.message);
  });
  const typeError = { name: "MpiError", code: mpi.ERR.TYPE };
  const rest = "could not be cloned; it may hold plain data, no functions, symbols or promises";
  const withFunction = { solve: () => 1 };
  for (const send of [
    () => comm.send(withFunction, { dest: rank }),
    () => comm.isend(withFunction, { dest: rank }),
    () => comm.bsend(withFunction, { dest: rank }),
    () => comm.sendrecv(withFunction, { dest: rank }, new Uint8Array(1)),
  ]) {
    assert.throws(send, { ...typeError, message: `Cannot send the object: () => 1 ${rest}` });
  }
  assert.throws(() => comm.allgather(Symbol("s")), {
    ...typeError,
    message: `Cannot allgather the object: Symbol(s) ${rest}`,
  });
  const long = Function(`return () => {\n${"  a();\n".repeat(1000)}}`)() as unknown;
  assert.throws(
    () => comm.send([long], { dest: rank }),
    (error: Error) => {
      assert.match(
        error.message,
        /^Cannot send the object: .* a\(\); .*\} could not be cloned; it may hold plain data/,
      );
      assert.ok(error.message.length < 250 && !error.message.includes("\n"));
      return true;
    },
  );
  assert.equal(heard.length, 6);
  // A getter of the program's own may throw what it wants.
  const own = new RangeError("mine");
  const throwing = {
    get now(): number {
      throw own;
    },
  };
  assert.throws(() => comm.send(throwing, { dest: rank }), own);

  // Bytes that begin as an object does, and are none; the version of the form alone; a typed array cut short.
  for (const bytes of [[0xff], [0xff, 1, 2, 3], [0xff, 15], [0xff, 15, 0x5c, 0, 200], [0xff, 15, 0x6f, 0x22]]) {
    const status = new mpi.Status();
    comm.isend(Uint8Array.from(bytes), { dest: rank, tag: 4 }).free();
    assert.throws(() => comm.recv({ source: rank, tag: 4, status }), {
      ...typeError,
      message: `Cannot read an object from rank ${rank} with tag 4: the message is ${bytes.length} plain bytes; receive it into a typed array`,
    });
    assert.deepEqual([status.source, status.tag, status.bytes], [rank, 4, bytes.length]);
  }
  assert.equal(heard.length, 11);
  // Nothing is left over.
  assert.equal(comm.iprobe(), null);
  comm.isend(undefined, { dest: rank }).free();
  assert.equal(comm.recv({ source: rank }), undefined);
});

await check("M1 objects: a collective of objects that meets an array says so", () => {
  const heard: number[] = [];
  // Two communicators: after such a mistake the ranks no longer agree on one.
  const [comm, other] = [world.dup(), world.dup()];
  for (const each of [comm, other]) {
    each.setErrorHandler((_comm, error) => {
      heard.push(error.code);
    });
  }
  const message = /: another rank gave an array; give objects on all ranks, or arrays on all$/;
  if (rank === 0) comm.ibcast(Float64Array.of(1.5)).wait();
  else assert.throws(() => comm.ibcast(null).wait(), { name: "MpiError", code: mpi.ERR.TYPE, message });
  // Of several requests the status tells.
  const request = rank === 0 ? other.ibcast(Float64Array.of(Number.NaN)) : other.ibcast<unknown>(null);
  if (rank === 0) request.wait();
  else assert.throws(() => mpi.waitAll([request]), { code: mpi.ERR.IN_STATUS });
  assert.deepEqual(heard, rank === 0 ? [] : [mpi.ERR.TYPE, mpi.ERR.IN_STATUS]);
});

await check("M1 sizes: 2 GiB and more are refused, in every kind of call, before anything is sent", () => {
  const comm = world.dup();
  let heard = 0;
  comm.setErrorHandler(() => {
    heard++;
  });
  const limit = 2 ** 31 - 1;
  const refusal = (bytes: number) => ({
    name: "MpiError",
    code: mpi.ERR.COUNT,
    message: `Cannot move ${bytes} bytes at once: a message, and each buffer of a collective, has up to ${limit}; move them in parts`,
  });
  let calls = 0;
  const refused = (bytes: number, call: () => unknown): void => {
    calls++;
    assert.throws(call, refusal(bytes));
  };
  // Pages that nobody touches cost nothing.
  const large = new Uint8Array(2 ** 31);
  const doubles = new Float64Array(large.buffer);
  const small = new Uint8Array(8);
  const to = { dest: rank };
  const sends = ["send", "ssend", "rsend", "bsend", "isend", "issend", "irsend", "ibsend"] as const;
  for (const name of sends) refused(2 ** 31, () => comm[name](large, to));
  for (const init of ["sendInit", "ssendInit", "rsendInit", "bsendInit"] as const)
    refused(2 ** 31, () => comm[init](large, to).start());
  refused(2 ** 31, () => comm.recv(large, { source: rank }));
  refused(2 ** 31, () => comm.irecv(large));
  refused(2 ** 31, () => comm.recvInit(large).start());
  refused(2 ** 31, () => comm.sendrecv(large, to, small));
  refused(2 ** 31, () => comm.sendrecv(small, to, large));
  refused(2 ** 31, () => comm.sendrecvReplace(large, to));

  // The same byte again and again: few bytes of memory, many of a message.
  const same = mpi.types.resized(mpi.DOUBLE, { lb: 0, extent: 0 }).commit();
  const many = { data: doubles.subarray(0, 1), type: same, count: 2 ** 28 };
  refused(2 ** 31, () => comm.send(many, to));
  refused(2 ** 31, () => comm.irecv(many));
  refused(2 ** 31, () => comm.bcast(many));
  // Few bytes of a message, far apart.
  const sparse = mpi.types.resized(mpi.BYTE, { lb: 0, extent: 2 ** 21 }).commit();
  refused(2 ** 31, () => comm.isend({ data: large, type: sparse, count: 1024 }, to));
  // A number that no array has.
  refused(8 * 2 ** 50, () => comm.send({ data: doubles, type: mpi.DOUBLE, count: 2 ** 50 }, to));

  refused(2 ** 31, () => comm.bcast(large));
  refused(2 ** 31, () => comm.ibcast(large));
  refused(2 ** 31, () => comm.bcastInit(large).start());
  refused(2 ** 31, () => comm.allreduce(doubles, "sum"));
  refused(2 ** 31, () => comm.allreduce(new Int32Array(large.buffer), "max", { into: new Int32Array(4) }));
  refused(2 ** 31, () => comm.reduce(doubles, "sum"));
  refused(2 ** 31, () => comm.iscan(doubles, "sum"));
  if (2 ** 28 % size === 0) refused(2 ** 31, () => comm.reduceScatterBlock(doubles, "sum"));
  refused(2 ** 31, () =>
    comm.alltoallv(large, { sendCounts: new Array(size).fill(1), recvCounts: new Array(size).fill(1) }),
  );
  // Each part is small enough, all together are not: every rank hears of it, not the root alone.
  const part = large.subarray(0, Math.ceil(2 ** 31 / size));
  refused(part.length * size, () => comm.gather(part));
  refused(part.length * size, () => comm.allgather(part));
  if (size > 1) refused(part.length * size, () => comm.scatter(null, { into: part, root: (rank + 1) % size }));
  assert.equal(heard, calls);

  // The communicator works as before.
  assert.equal(comm.iprobe(), null);
  assert.equal(comm.allreduce(Int32Array.of(1), "sum")[0], size);
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
