/**
 * Programs that are wrong as programs are: NULL for handles, results and lists, freed handles, negative and huge counts, the same
 * buffer twice. Each call answers with the class that other implementations answer with. Section 12.5.
 */
import { equal, ok, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import { PROC_NULL } from "../core/base/constants.ts";
import { ErrorClass } from "../core/base/mpi-error.ts";
import { predefinedOps } from "../core/comm/op/op-predefined.ts";
import { World } from "../sim/world.ts";
import { TestProgram } from "./testing/program.ts";
import { COMM_NULL, ERRORS_RETURN, INFO_NULL, INT, SELF, TestRanks, WORLD } from "./testing/ranks.ts";

const SUM = predefinedOps.SUM.handle;
const [nullGroup, nullType, nullOp, nullRequest, nullFile] = [0x108, 0x200, 0x20, 0x180, 0x118];
const huge = 0x7fffffff;
const E = ErrorClass;

function program(): TestProgram {
  const [c] = new TestRanks(1).programs as [TestProgram];
  for (const comm of [WORLD, SELF]) c.call("MPI_Comm_set_errhandler", comm, ERRORS_RETURN);
  c.call("MPI_File_set_errhandler", nullFile, ERRORS_RETURN);
  return c;
}

type Args = (c: TestProgram) => readonly (number | bigint)[];

/** A handle that was made and freed. */
function freed(c: TestProgram, make: () => number, free: string): number {
  const handle = make();
  equal(c.call(free, c.ints(handle)), 0);
  return handle;
}
const freedComm = (c: TestProgram): number => freed(c, () => c.get("MPI_Comm_dup", WORLD), "MPI_Comm_free");
const freedType = (c: TestProgram): number => freed(c, () => c.get("MPI_Type_contiguous", 2, INT), "MPI_Type_free");
const freedGroup = (c: TestProgram): number => freed(c, () => c.get("MPI_Comm_group", WORLD), "MPI_Group_free");
const worldGroup = (c: TestProgram): number => c.get("MPI_Comm_group", WORLD);
function displacedInt(c: TestProgram, displacement: number): number {
  const type = c.get("MPI_Type_create_hindexed_block", 1, 1, c.ints(displacement), INT);
  equal(c.call("MPI_Type_commit", c.ints(type)), 0);
  return type;
}
const beyond = (c: TestProgram): number => c.program.bytes.length - 8;

const wrong: readonly (readonly [what: string, name: string, args: Args, errorClass: number])[] = [
  // Handles
  ["no communicator", "MPI_Comm_rank", (c) => [COMM_NULL, c.alloc(4)], E.COMM],
  ["a communicator that is 0", "MPI_Barrier", () => [0], E.COMM],
  ["a freed communicator", "MPI_Send", (c) => [c.ints(1), 1, INT, 0, 1, freedComm(c)], E.COMM],
  ["a datatype for a communicator", "MPI_Comm_size", (c) => [INT, c.alloc(4)], E.COMM],
  ["no datatype", "MPI_Send", (c) => [c.ints(1), 1, nullType, 0, 1, WORLD], E.TYPE],
  ["a freed datatype", "MPI_Bcast", (c) => [c.ints(1, 2), 1, freedType(c), 0, WORLD], E.TYPE],
  [
    "a datatype not committed",
    "MPI_Recv",
    (c) => [c.alloc(8), 1, c.get("MPI_Type_contiguous", 2, INT), 0, 1, WORLD, 0],
    E.TYPE,
  ],
  ["no operation", "MPI_Allreduce", (c) => [c.ints(1), c.alloc(4), 1, INT, nullOp, WORLD], E.OP],
  ["no group", "MPI_Group_size", (c) => [nullGroup, c.alloc(4)], E.GROUP],
  ["a freed group", "MPI_Comm_create", (c) => [WORLD, freedGroup(c), c.alloc(4)], E.GROUP],
  ["no info object", "MPI_Info_get_nkeys", (c) => [INFO_NULL, c.alloc(4)], E.INFO],
  ["no file", "MPI_File_get_size", (c) => [nullFile, c.alloc(8)], E.FILE],
  ["a request that is none", "MPI_Wait", (c) => [c.ints(12345), 0], E.REQUEST],
  ["a list of requests with one that is none", "MPI_Waitall", (c) => [2, c.ints(nullRequest, 77), 0], E.REQUEST],
  ["freeing MPI_REQUEST_NULL", "MPI_Request_free", (c) => [c.ints(nullRequest)], E.REQUEST],
  ["starting MPI_REQUEST_NULL", "MPI_Start", (c) => [c.ints(nullRequest)], E.REQUEST],
  ["cancelling MPI_REQUEST_NULL", "MPI_Cancel", (c) => [c.ints(nullRequest)], E.REQUEST],
  ["freeing MPI_COMM_WORLD", "MPI_Comm_free", (c) => [c.ints(WORLD)], E.COMM],
  ["freeing MPI_COMM_NULL", "MPI_Comm_free", (c) => [c.ints(COMM_NULL)], E.COMM],
  ["freeing MPI_INT", "MPI_Type_free", (c) => [c.ints(INT)], E.TYPE],
  ["freeing MPI_SUM", "MPI_Op_free", (c) => [c.ints(SUM)], E.OP],
  ["no error handler", "MPI_Comm_set_errhandler", () => [WORLD, 0x140], E.ERRHANDLER],
  // Results and lists
  ["NULL for a rank", "MPI_Comm_rank", () => [WORLD, 0], E.ARG],
  ["NULL for a size", "MPI_Comm_size", () => [WORLD, 0], E.ARG],
  ["NULL for a request", "MPI_Isend", (c) => [c.ints(1), 1, INT, PROC_NULL, 1, WORLD, 0], E.ARG],
  ["NULL for the request to wait for", "MPI_Wait", () => [0, 0], E.ARG],
  ["NULL for requests", "MPI_Waitall", () => [2, 0, 0], E.ARG],
  ["NULL for a flag", "MPI_Test", (c) => [c.ints(nullRequest), 0, 0], E.ARG],
  ["NULL for an index", "MPI_Waitany", (c) => [1, c.ints(nullRequest), 0, 0], E.ARG],
  ["NULL for a communicator", "MPI_Comm_dup", () => [WORLD, 0], E.ARG],
  ["NULL for a new type", "MPI_Type_contiguous", () => [1, INT, 0], E.ARG],
  ["NULL for the type to commit", "MPI_Type_commit", () => [0], E.ARG],
  ["NULL for a count", "MPI_Get_count", (c) => [c.alloc(32), INT, 0], E.ARG],
  ["MPI_STATUS_IGNORE where a status is read", "MPI_Get_count", (c) => [0, INT, c.alloc(4)], E.ARG],
  ["NULL for a name", "MPI_Get_processor_name", (c) => [0, c.alloc(4)], E.ARG],
  ["NULL for a length", "MPI_Comm_get_name", (c) => [WORLD, c.alloc(128), 0], E.ARG],
  ["NULL for a name that is set", "MPI_Comm_set_name", () => [WORLD, 0], E.ARG],
  ["NULL for a key", "MPI_Info_set", (c) => [c.get("MPI_Info_create"), 0, c.text("v")], E.INFO_KEY],
  ["NULL for a value", "MPI_Info_set", (c) => [c.get("MPI_Info_create"), c.text("k"), 0], E.INFO_VALUE],
  ["NULL for dimensions", "MPI_Cart_create", (c) => [WORLD, 1, 0, c.ints(0), 0, c.alloc(4)], E.ARG],
  ["NULL for coordinates", "MPI_Cart_coords", () => [WORLD, 0, 1, 0], E.ARG],
  ["NULL for ranks", "MPI_Group_incl", (c) => [worldGroup(c), 1, 0, c.alloc(4)], E.ARG],
  ["NULL for an operation", "MPI_Op_create", (c) => [c.function(() => 0), 1, 0], E.ARG],
  ["NULL for a function", "MPI_Op_create", (c) => [0, 1, c.alloc(4)], E.ARG],
  ["NULL for memory", "MPI_Alloc_mem", () => [8, INFO_NULL, 0], E.ARG],
  ["NULL for a file's name", "MPI_File_open", (c) => [WORLD, 0, 2, INFO_NULL, c.alloc(4)], E.ARG],
  ["NULL for counts", "MPI_Allgatherv", (c) => [c.ints(1), 1, INT, c.alloc(4), 0, c.ints(0), INT, WORLD], E.ARG],
  [
    "NULL for counts at the root",
    "MPI_Gatherv",
    (c) => [c.ints(1), 1, INT, c.alloc(4), 0, c.ints(0), INT, 0, WORLD],
    E.ARG,
  ],
  [
    "NULL for types",
    "MPI_Alltoallw",
    (c) => [c.ints(1), c.ints(1), c.ints(0), 0, c.alloc(4), c.ints(1), c.ints(0), c.ints(INT), WORLD],
    E.ARG,
  ],
  ["statuses beyond the end", "MPI_Waitall", (c) => [1, c.ints(nullRequest), beyond(c)], E.ARG],
  ["a status beyond the end", "MPI_Recv", (c) => [c.alloc(4), 1, INT, PROC_NULL, 1, WORLD, beyond(c)], E.ARG],
  [
    "a text without end",
    "MPI_Comm_set_name",
    (c) => {
      const at = beyond(c);
      c.program.bytes.fill(65, at);
      return [WORLD, at];
    },
    E.ARG,
  ],
  // Buffers
  ["NULL for a buffer", "MPI_Send", () => [0, 1, INT, 0, 1, WORLD], E.BUFFER],
  ["NULL for a buffer to nobody", "MPI_Send", () => [0, 1, INT, PROC_NULL, 1, WORLD], E.BUFFER],
  ["a member of a structure at NULL", "MPI_Recv", () => [1020, 1, INT, 0, 1, WORLD, 0], E.BUFFER],
  [
    "MPI_BOTTOM with a small displacement",
    "MPI_Unpack",
    (c) => [c.ints(7), 4, c.ints(0), 0, 1, displacedInt(c, 24), WORLD],
    E.BUFFER,
  ],
  ["NULL for a buffer of a broadcast", "MPI_Bcast", () => [0, 1, INT, 0, WORLD], E.BUFFER],
  ["NULL for a result", "MPI_Allreduce", (c) => [c.ints(1), 0, 1, INT, SUM, WORLD], E.BUFFER],
  ["MPI_IN_PLACE for a message", "MPI_Send", () => [1, 1, INT, 0, 1, WORLD], E.BUFFER],
  ["MPI_IN_PLACE for a result", "MPI_Allreduce", (c) => [c.ints(1), 1, 1, INT, SUM, WORLD], E.BUFFER],
  [
    "the same buffer twice in a reduction",
    "MPI_Allreduce",
    (c) => Array(2).fill(c.ints(1)).concat([1, INT, SUM, WORLD]),
    E.BUFFER,
  ],
  [
    "the same buffer twice in a reduction, later",
    "MPI_Iallreduce",
    (c) =>
      Array(2)
        .fill(c.ints(1))
        .concat([1, INT, SUM, WORLD, c.alloc(4)]),
    E.BUFFER,
  ],
  [
    "the same buffer twice at the root",
    "MPI_Reduce",
    (c) => Array(2).fill(c.ints(1)).concat([1, INT, SUM, 0, WORLD]),
    E.BUFFER,
  ],
  [
    "the same buffer twice in a scan",
    "MPI_Scan",
    (c) => Array(2).fill(c.ints(1)).concat([1, INT, SUM, WORLD]),
    E.BUFFER,
  ],
  [
    "the same buffer twice, locally",
    "MPI_Reduce_local",
    (c) => Array(2).fill(c.ints(1)).concat([1, INT, SUM]),
    E.BUFFER,
  ],
  ["the same buffer twice in a gather", "MPI_Gather", (c) => twice(c, [1, INT], [1, INT, 0, WORLD]), E.BUFFER],
  ["the same buffer twice in a scatter", "MPI_Scatter", (c) => twice(c, [1, INT], [1, INT, 0, WORLD]), E.BUFFER],
  ["the same buffer twice in an allgather", "MPI_Allgather", (c) => twice(c, [1, INT], [1, INT, WORLD]), E.BUFFER],
  ["the same buffer twice in an alltoall", "MPI_Alltoall", (c) => twice(c, [1, INT], [1, INT, WORLD]), E.BUFFER],
  ["a packed buffer beyond the end", "MPI_Pack", (c) => [c.ints(1), 1, INT, beyond(c), 64, c.ints(0), WORLD], E.BUFFER],
  ["items beyond the end", "MPI_Pack", (c) => [beyond(c), 9, INT, c.alloc(64), 64, c.ints(0), WORLD], E.BUFFER],
  ["items beyond the end", "MPI_Unpack", (c) => [c.alloc(64), 64, c.ints(0), beyond(c), 9, INT, WORLD], E.BUFFER],
  ["operands beyond the end", "MPI_Reduce_local", (c) => [beyond(c), c.alloc(64), 9, INT, SUM], E.BUFFER],
  [
    "displacements that lead out",
    "MPI_Allgatherv",
    (c) => [c.ints(1), 1, INT, c.alloc(4), c.ints(1), c.ints(huge), INT, WORLD],
    E.BUFFER,
  ],
  [
    "displacements that lead out, in bytes",
    "MPI_Alltoallw",
    (c) => [c.ints(1), c.ints(1), c.ints(-huge), c.ints(INT), c.alloc(4), c.ints(1), c.ints(0), c.ints(INT), WORLD],
    E.BUFFER,
  ],
  ["an attached buffer beyond the end", "MPI_Buffer_attach", (c) => [beyond(c), 4096], E.BUFFER],
  [
    "partitions beyond the end",
    "MPI_Psend_init",
    (c) => [beyond(c), 3, 1n, INT, 0, 1, WORLD, INFO_NULL, c.alloc(4)],
    E.BUFFER,
  ],
  [
    "a large count beyond the end",
    "MPI_Iallreduce_c",
    (c) => [beyond(c), c.alloc(64), 100n, INT, SUM, WORLD, c.alloc(4)],
    E.BUFFER,
  ],
  // Counts, ranks, tags
  ["a negative count", "MPI_Send", (c) => [c.ints(1), -1, INT, 0, 1, WORLD], E.COUNT],
  ["a negative count of a broadcast", "MPI_Bcast", (c) => [c.ints(1), -1, INT, 0, WORLD], E.COUNT],
  [
    "a negative count among many",
    "MPI_Allgatherv",
    (c) => [c.ints(1), 1, INT, c.alloc(4), c.ints(-1), c.ints(0), INT, WORLD],
    E.COUNT,
  ],
  [
    "a large count that is negative",
    "MPI_Iallreduce_c",
    (c) => [c.ints(1), c.alloc(4), -1n, INT, SUM, WORLD, c.alloc(4)],
    E.COUNT,
  ],
  [
    "a large count of 2^63 - 1",
    "MPI_Iallreduce_c",
    (c) => [c.ints(1), c.alloc(4), 2n ** 63n - 1n, INT, SUM, WORLD, c.alloc(4)],
    E.COUNT,
  ],
  ["a negative number of requests", "MPI_Waitall", (c) => [-1, c.ints(0), 0], E.COUNT],
  ["a negative number of requests to start", "MPI_Startall", (c) => [-1, c.ints(0)], E.COUNT],
  ["a rank that is none", "MPI_Send", (c) => [c.ints(1), 1, INT, 7, 1, WORLD], E.RANK],
  ["a root that is none", "MPI_Bcast", (c) => [c.ints(1), 1, INT, 7, WORLD], E.ROOT],
  ["a tag below 0", "MPI_Send", (c) => [c.ints(1), 1, INT, 0, -5, WORLD], E.TAG],
  ["less than no memory", "MPI_Alloc_mem", (c) => [-1, INFO_NULL, c.alloc(4)], E.ARG],
  ["memory that MPI has not given", "MPI_Free_mem", (c) => [c.alloc(64)], E.BASE],
  // Counts that would take minutes
  ["dimensions without number", "MPI_Dims_create", (c) => [12, huge, c.alloc(64)], E.ARG],
  ["a grid without end", "MPI_Cart_create", (c) => [WORLD, huge, c.alloc(64), c.alloc(64), 0, c.alloc(4)], E.ARG],
  ["a graph without end", "MPI_Graph_create", (c) => [WORLD, huge, c.alloc(64), c.alloc(64), 0, c.alloc(4)], E.ARG],
  ["edges without end", "MPI_Graph_map", (c) => [WORLD, 1, c.ints(huge), c.alloc(64), c.alloc(4)], E.ARG],
  [
    "a graph of more nodes than ranks",
    "MPI_Graph_create",
    (c) => [WORLD, 9, c.alloc(64), c.alloc(64), 0, c.alloc(4)],
    E.ARG,
  ],
  ["ranks without end", "MPI_Group_incl", (c) => [worldGroup(c), huge, c.alloc(64), c.alloc(4)], E.ARG],
  ["more ranks than members", "MPI_Group_incl", (c) => [worldGroup(c), 9, c.alloc(64), c.alloc(4)], E.RANK],
  [
    "ranks to translate without end",
    "MPI_Group_translate_ranks",
    (c) => [worldGroup(c), huge, c.alloc(64), worldGroup(c), c.alloc(64)],
    E.ARG,
  ],
  ["requests without end", "MPI_Request_get_status_all", (c) => [huge, c.alloc(64), c.alloc(4), 0], E.ARG],
  [
    "requests without end",
    "MPI_Request_get_status_some",
    (c) => [huge, c.alloc(64), c.alloc(4), c.alloc(64), 0],
    E.ARG,
  ],
  [
    "neighbours without end",
    "MPI_Dist_graph_create_adjacent",
    (c) => [WORLD, huge, c.alloc(64), 10, 0, c.alloc(64), 10, INFO_NULL, 0, c.alloc(4)],
    E.ARG,
  ],
  [
    "degrees without end",
    "MPI_Dist_graph_create",
    (c) => [WORLD, 1, c.ints(0), c.ints(huge), c.alloc(64), 10, INFO_NULL, 0, c.alloc(4)],
    E.ARG,
  ],
  ["arguments without end", "MPI_Info_create_env", (c) => [huge, c.alloc(64), c.alloc(4)], E.ARG],
  [
    "partitions without end",
    "MPI_Psend_init",
    (c) => [c.alloc(4), huge, 0n, INT, 0, 1, WORLD, INFO_NULL, c.alloc(4)],
    E.ARG,
  ],
];

function twice(c: TestProgram, first: readonly number[], second: readonly number[]): number[] {
  const buffer = c.ints(1);
  return [buffer, ...first, buffer, ...second];
}

describe("X8 arguments are checked as other MPIs check them", () => {
  for (const [what, name, args, errorClass] of wrong) {
    it(`${name}: ${what}`, () => {
      const c = program();
      equal(c.get("MPI_Error_class", c.call(name, ...args(c))), errorClass);
    });
  }

  it("what is allowed stays allowed", () => {
    const c = program();
    const fine = (name: string, ...args: (number | bigint)[]): void => equal(c.call(name, ...args), 0, name);
    fine("MPI_Send", 0, 0, INT, 0, 1, WORLD);
    fine("MPI_Recv", 0, 0, INT, 0, 1, WORLD, 0);
    fine("MPI_Send", -8, 0, INT, PROC_NULL, 1, WORLD);
    fine("MPI_Waitall", 0, 0, 0);
    fine("MPI_Bcast", 0, 0, INT, 0, WORLD);
    fine("MPI_Allreduce", 0, 0, 0, INT, SUM, WORLD);
    fine("MPI_Allreduce", 1, c.ints(1), 1, INT, SUM, WORLD);
    fine("MPI_Gatherv", 0, 0, INT, 0, c.ints(0), c.ints(0), INT, 0, WORLD);
    fine("MPI_Free_mem", 0);
    fine("MPI_Group_incl", worldGroup(c), 0, 0, c.alloc(4));
    fine("MPI_Type_indexed", 0, 0, 0, INT, c.alloc(4));
    fine("MPI_Buffer_attach", 2, 0);
    const [value, block] = [c.ints(5), c.alloc(4)];
    // Absolute addresses from MPI_BOTTOM.
    fine("MPI_Type_create_hindexed", 1, c.ints(1), c.ints(value), INT, block);
    fine("MPI_Type_commit", block);
    fine("MPI_Bcast", 0, 1, c.int(block), 0, WORLD);
    fine("MPI_Alloc_mem", 64, INFO_NULL, block);
    const memory = c.int(block);
    fine("MPI_Free_mem", memory);
    equal(c.call("MPI_Free_mem", memory), E.BASE);
  });

  const outside: readonly (readonly [name: string, args: Args])[] = [
    ["MPI_Send", (c) => [c.ints(1), 1, INT, 0, 1, WORLD]],
    ["MPI_Recv", (c) => [c.alloc(4), 1, INT, 0, 1, WORLD, 0]],
    ["MPI_Wait", (c) => [c.ints(nullRequest), 0]],
    ["MPI_Waitall", () => [0, 0, 0]],
    ["MPI_Isend", (c) => [c.ints(1), 1, INT, 0, 1, WORLD, c.alloc(4)]],
    ["MPI_Barrier", () => [WORLD]],
  ];
  for (const [name, args] of outside) {
    it(`${name}: not before MPI_Init, nor after MPI_Finalize`, () => {
      const world = new World({ ranks: 1, nodes: 1, seed: 1 });
      const c = new TestProgram(world, world.processes[0]!);
      const refused = (state: string): void =>
        throws(() => c.call(name, ...args(c)), { message: new RegExp(`Cannot call ${name}: ${state} has`) });
      refused("MPI_Init");
      c.call("MPI_Init", 0, 0);
      c.call("MPI_Finalize");
      refused("MPI_Finalize");
    });
  }

  it("MPI_Dims_create: numbers with many divisors, and many dimensions, are quick", () => {
    const c = program();
    for (const [nodes, count] of [
      [2_095_133_040, 31],
      [735_134_400, 12],
      [2_147_483_647, 60],
    ] as const) {
      const dims = c.ints(...new Array<number>(count).fill(0));
      equal(c.call("MPI_Dims_create", nodes, count, dims), 0);
      const list = c.list(dims, count);
      equal(
        list.reduce((product, dim) => product * dim, 1),
        nodes,
      );
      ok(list.every((dim, i) => i === 0 || dim <= list[i - 1]!));
    }
    equal(c.call("MPI_Dims_create", 12, 1 << 20, c.alloc(4 << 20)), E.DIMS);
  });
});
