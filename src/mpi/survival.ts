/**
 * Going on after a failure, by the means of ULFM: a communicator can be revoked, its members can agree on something although
 * some of them die, those that live can have a communicator of their own. (Under protocol `none` the first death ends the
 * job all the same.)
 */
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { Agree } from "../core/process/agree.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { Shrink } from "../core/process/new-communicators.ts";
import type { Communicator } from "./communicator.ts";
import { Group } from "./group.ts";
import type { AfterCompletion, Request } from "./request.ts";
import { Topologies } from "./topologies.ts";

/** PROC_FAILED of an agreement: there is one all the same, the same for everybody. */
export class AgreementError extends MpiError {
  readonly flags: number;
  constructor(code: number, flags: number) {
    super(code, "Cannot agree without objection: a member has failed that not everybody has acknowledged");
    this.flags = flags;
  }
}

export abstract class Survival extends Topologies {
  /** Ends everything on this communicator with `ERR.REVOKED`, in every member: what is under way and what is started later. */
  revoke(): void {
    this.operations.revoke(this.#open("revoke"));
  }

  /** Has any member revoked it, as far as this one has heard? */
  get isRevoked(): boolean {
    if (!this.core.isRevoked) this.operations.look();
    return this.core.isRevoked;
  }

  /** A communicator of the members that live, in their order; also of one that is revoked. All that live call. */
  shrink(): Communicator {
    return this.make(new Shrink(this.#open("shrink")))!;
  }

  ishrink(): Request<Communicator> {
    const task = new Shrink(this.#open("shrink"));
    const record = this.operations.startTask(task);
    const finish = ({ error }: { error: number }) => (error === 0 ? this.adopt(task.result!) : undefined);
    return this.requestOf({ record, after: { finish } });
  }

  /**
   * The bits that all members have set in their `flags`, 32 at most: the same for everybody who gets an answer, whoever dies
   * meanwhile. Throws an `AgreementError`, which has them too, while not everybody has acknowledged the dead.
   */
  agree(flags: number): number {
    return this.iagree(flags).wait();
  }

  iagree(flags: number): Request<number> {
    if (!Number.isInteger(flags)) {
      this.raise(new MpiError(ErrorClass.ARG, `Cannot agree on ${flags}: flags are a whole number`));
    }
    const task = new Agree(this.#open("agree on"), flags | 0);
    return this.requestOf({ record: this.operations.startTask(task), after: new AgreementOutcome(task) });
  }

  /** The members that are known to be dead, in the order in which they died. */
  failed(): Group {
    return new Group(this.environment, this.host.process.failures.of(this.core));
  }

  /**
   * The program knows of the first `count` of `failed()`: they do not keep it from receiving from ANY_SOURCE any more, nor
   * from agreeing. How many it knows of now.
   */
  ackFailed(count = this.failed().size): number {
    if (!Number.isInteger(count) || count < 0) {
      this.raise(new MpiError(ErrorClass.ARG, `Cannot acknowledge ${count} failures: counts are whole numbers from 0`));
    }
    return this.host.process.failures.acknowledge(this.core, count);
  }

  /** Those of `failed()` that are acknowledged. */
  acknowledged(): Group {
    return new Group(this.environment, this.host.process.failures.acknowledgedOf(this.core));
  }

  #open(verb: string): CoreCommunicator {
    if (!this.core.freed) return this.core;
    const message = `Cannot ${verb} communicator ${this.label}: it has been freed`;
    return this.raise(new MpiError(ErrorClass.COMM, message));
  }
}

class AgreementOutcome implements AfterCompletion<number> {
  readonly #task: Agree;
  mistake: MpiError | null = null;

  constructor(task: Agree) {
    this.#task = task;
  }

  finish(): number {
    const { error, flags } = this.#task;
    if (error !== 0) this.mistake = new AgreementError(error, flags);
    return flags;
  }
}
