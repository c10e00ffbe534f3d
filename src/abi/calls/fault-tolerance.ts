/** ULFM under the names of the coming standard and under those of mpi-ext.h: revoking, agreeing, shrinking, and who is dead. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { Agree } from "../../core/process/agree.ts";
import { Shrink } from "../../core/process/communicators/shrink.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { Ended } from "../ended.ts";
import { makeCommunicator, startCommunicator } from "../handles/new-communicator.ts";
import { type After, type CCommunicator, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { handOver } from "../waiting/conclude-requests.ts";
import { type Condition, waitForThen, waitThen } from "../waiting/waiting.ts";
import { putGroup } from "./groups.ts";
import { resumePending } from "./requests.ts";

/** The agreement is over: its flags go to `out`, also when there is an error. */
class FlagsAgreed implements Continuation {
  private readonly comm: CCommunicator;
  private readonly task: Agree;
  private readonly out: number;

  constructor(comm: CCommunicator, task: Agree, out: number) {
    this.comm = comm;
    this.task = task;
    this.out = out;
  }

  resume(program: Program): number {
    const { request, error, flags } = this.task;
    program.operations.end(request);
    program.owner = this.comm;
    program.ints[this.out >> 2] = flags;
    if (error === 0) return 0;
    const text = program.errorCodes.stringOf(error);
    throw new MpiError(error, `Cannot agree without objection on ${this.comm.label}: ${text}`);
  }
}

class AgreedLater implements After {
  private readonly task: Agree;
  private readonly out: number;

  constructor(task: Agree, out: number) {
    this.task = task;
    this.out = out;
  }

  finish({ ints }: Program): void {
    ints[this.out >> 2] = this.task.flags;
  }
}

const table: CallTable = {
  MPI_Comm_revoke(program, handle: number) {
    program.operations.revoke(program.comm(handle).core);
    return 0;
  },
  MPI_Comm_is_revoked(program, handle: number, flag: number) {
    const { core } = program.comm(handle);
    // A program may ask again and again until it is.
    const { operations } = program;
    if (!operations.isRevoked(core)) operations.look();
    return program.putInt(flag, operations.isRevoked(core) ? 1 : 0);
  },
  MPI_Comm_shrink(program, handle: number, out: number) {
    const comm = program.comm(handle);
    return makeCommunicator(program, comm, new Shrink(comm.core), out);
  },
  MPI_Comm_ishrink(program, handle: number, out: number, request: number) {
    const comm = program.comm(handle);
    return startCommunicator(program, comm, new Shrink(comm.core), { comm: out, request });
  },
  MPI_Comm_agree(program, handle: number, flag: number) {
    const comm = program.comm(handle);
    const task = new Agree(comm.core, program.ints[flag >> 2]!);
    return waitThen(program, program.operations.startTask(task), new FlagsAgreed(comm, task, flag));
  },
  MPI_Comm_iagree(program, handle: number, flag: number, out: number) {
    const request = new CRequest(program.comm(handle));
    const task = new Agree(request.comm.core, program.ints[flag >> 2]!);
    request.record = program.operations.startTask(task);
    request.after = new AgreedLater(task, flag);
    return handOver(program, request, out);
  },

  // Who is dead, in the order in which they died

  MPI_Comm_get_failed: (program, handle: number, out: number) =>
    putGroup(program, program.operations.failedOf(program.comm(handle).core), out),
  MPI_Comm_ack_failed(program, handle: number, count: number, out: number) {
    const { core } = program.comm(handle);
    if (count < 0) throw new MpiError(ErrorClass.ARG, `Cannot acknowledge ${count} failures: counts are from 0`);
    const acknowledged = program.operations.acknowledge(core, count);
    resumePending(program);
    return program.putInt(out, acknowledged);
  },
  /** All of them that are known. */
  MPI_Comm_failure_ack(program, handle: number) {
    const { core } = program.comm(handle);
    program.operations.acknowledge(core, program.operations.deaths);
    resumePending(program);
    return 0;
  },
  MPI_Comm_failure_get_acked: (program, handle: number, out: number) =>
    putGroup(program, program.operations.acknowledgedOf(program.comm(handle).core), out),
};

/** Both names of a function lead to it. */
const bothNames: CallTable = Object.fromEntries(
  Object.entries(table).flatMap(([name, call]) => [
    [name, call],
    [name.replace("MPI_", "MPIX_"), call],
  ]),
);

/** A process that is dead to its program has served to the end: it ends as a program does that has called MPI_Finalize. */
class Served implements Condition, Continuation {
  isReady({ operations }: Program): boolean {
    return operations.simulatedDeath?.isOver !== false;
  }

  resume(program: Program): number {
    program.isFinalized = true;
    throw new Ended({ kind: "exited", code: 0 });
  }
}

const extensions: CallTable = {
  MPIX_Simulated_death(program) {
    const { simulatedDeath } = program.operations;
    if (simulatedDeath === null) {
      throw new MpiError(
        ErrorClass.UNSUPPORTED_OPERATION,
        "Cannot make this process dead to the program alone: the job has no fault layer; run it with --fault-layer",
      );
    }
    simulatedDeath.die();
    return waitForThen(program, new Served(), new Served());
  },
};

export const faultToleranceCalls = (program: Program) => callsOf(program, { ...bothNames, ...extensions });

saves({ FlagsAgreed, AgreedLater, Served });
