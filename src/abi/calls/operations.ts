/** Operations of reductions, and reducing without anybody else: MPI 5.0 §6.9.5 to §6.9.7. */
import type { Pointer } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { checkCount } from "../../core/binding/checks.ts";
import { userOp } from "../../core/comm/op/op-user.ts";
import { checkApart } from "../arguments/buffers.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { MPI_IN_PLACE } from "../collectives/collective-arguments.ts";
import { operandsAt, reductionOf } from "../collectives/start-reduction.ts";
import type { Program } from "../program.ts";
import { CallKind, type Continuation } from "../waiting/callbacks.ts";

const OP_NULL = 0x20;

/** Stands where TypeScript has its function: only the program itself can call one of its own. */
export function calledByTheProgram(): void {}

/** The program has combined: the words it read the length and the datatype from are given back. */
class AfterReducing implements Continuation {
  private readonly cells: Pointer;

  constructor(cells: Pointer) {
    this.cells = cells;
  }

  resume({ memory }: Program): number {
    memory.free(this.cells);
    return 0;
  }
}

function create(program: Program, fn: number, commutes: number, out: number): number {
  if (fn === 0) throw new MpiError(ErrorClass.ARG, "Cannot make the operation: its function is a null pointer");
  const core = userOp(calledByTheProgram, commutes !== 0);
  return program.putInt(out, program.ops.add({ core, function: fn }));
}

const table: CallTable = {
  MPI_Op_create: create,
  /** The function reads an MPI_Count where others read an int: the length that is written for it is both. */
  MPI_Op_create_c: create,
  MPI_Op_free(program, handleAt: number) {
    const handle = program.ints[handleAt >> 2]!;
    const { core } = program.ops.get(handle);
    if (core.kind === "predefined") {
      throw new MpiError(ErrorClass.OP, `Cannot free MPI_${core.name}: it is predefined`);
    }
    program.ops.remove(handle);
    return program.putInt(handleAt, OP_NULL);
  },
  MPI_Op_commutative: (program, handle: number, flag: number) =>
    program.putInt(flag, program.ops.get(handle).core.isCommutative ? 1 : 0),
  MPI_Reduce_local(program, from: number, into: number, count: number, type: number, op: number) {
    checkCount(count);
    if (from === MPI_IN_PLACE || into === MPI_IN_PLACE) {
      throw new MpiError(ErrorClass.BUFFER, "Cannot reduce with MPI_IN_PLACE: MPI_Reduce_local has two buffers");
    }
    const reduction = reductionOf(program, op, type);
    if (count === 0) return 0;
    const { core } = program.types.get(type);
    for (const address of [from, into]) operandsAt(program, reduction, address, count, core);
    checkApart(program, from, into);
    if (reduction.call === undefined) {
      const [left, right] = [from as Pointer, into as Pointer];
      program.operations.combine(reduction, left, right, right, count);
      return 0;
    }
    const cells = program.memory.allocate(16);
    program.ints[cells >> 2] = count;
    program.ints[(cells >> 2) + 1] = 0;
    program.ints[(cells >> 2) + 2] = type;
    const args = [from, into, cells, cells + 8];
    return program.callbacks.call(CallKind.OPERATION, program.ops.get(op).function, args, new AfterReducing(cells));
  },
};

export const operationCalls = (program: Program) => callsOf(program, table);

saves({ AfterReducing });
