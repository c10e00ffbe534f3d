/** ULFM, the functions of mpi-ext.h: revoking, agreeing, shrinking, and who is dead. */
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { Agree } from "../../core/process/agree.ts";
import { Shrink } from "../../core/process/communicators/shrink.ts";
import { makeCommunicator, startCommunicator } from "../handles/new-communicator.ts";
import { type After, type CCommunicator, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { waitThen } from "../waiting/waiting.ts";
import { putGroup } from "./groups.ts";

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

export function faultToleranceCalls(program: Program) {
  const { ints, operations, process } = program;

  return {
    MPIX_Comm_revoke(handle: number): number {
      operations.revoke(program.comm(handle).core);
      return 0;
    },
    MPIX_Comm_is_revoked(handle: number, flag: number): number {
      const { core } = program.comm(handle);
      // A program may ask again and again until it is.
      if (!core.isRevoked) operations.look();
      ints[flag >> 2] = core.isRevoked ? 1 : 0;
      return 0;
    },
    MPIX_Comm_shrink(handle: number, out: number): number {
      const comm = program.comm(handle);
      return makeCommunicator(program, comm, new Shrink(comm.core), out);
    },
    MPIX_Comm_ishrink(handle: number, out: number, request: number): number {
      const comm = program.comm(handle);
      return startCommunicator(program, comm, new Shrink(comm.core), { comm: out, request });
    },
    MPIX_Comm_agree(handle: number, flag: number): number {
      const comm = program.comm(handle);
      const task = new Agree(comm.core, ints[flag >> 2]!);
      return waitThen(program, operations.startTask(task), new FlagsAgreed(comm, task, flag));
    },
    MPIX_Comm_iagree(handle: number, flag: number, out: number): number {
      const request = new CRequest(program.comm(handle));
      const task = new Agree(request.comm.core, ints[flag >> 2]!);
      request.record = operations.startTask(task);
      request.after = new AgreedLater(task, flag);
      request.handle = program.requests.add(request);
      ints[out >> 2] = request.handle;
      return 0;
    },

    // Who is dead, in the order in which they died

    MPIX_Comm_get_failed: (handle: number, out: number): number =>
      putGroup(program, process.failures.of(program.comm(handle).core), out),
    MPIX_Comm_ack_failed(handle: number, count: number, out: number): number {
      const { core } = program.comm(handle);
      if (count < 0) throw new MpiError(ErrorClass.ARG, `Cannot acknowledge ${count} failures: counts are from 0`);
      ints[out >> 2] = process.failures.acknowledge(core, count);
      return 0;
    },
    /** All of them that are known. */
    MPIX_Comm_failure_ack(handle: number): number {
      const { core } = program.comm(handle);
      process.failures.acknowledge(core, process.failures.count);
      return 0;
    },
    MPIX_Comm_failure_get_acked: (handle: number, out: number): number =>
      putGroup(program, process.failures.acknowledgedOf(program.comm(handle).core), out),
  };
}

saves({ FlagsAgreed, AgreedLater });
