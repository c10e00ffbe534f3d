import { saves } from "../base/saved-classes.ts";
import type { Communicator } from "./communicator.ts";
import { agreesIn, type JoinedAgreement, joinAgreement, nextVerdict } from "./joined-agreement.ts";
import type { Process } from "./process.ts";
import { Task } from "./task.ts";

/** MPIX_Comm_agree, MPIX_Comm_iagree: the bitwise AND of the flags of all members. The flags count also when there is an error. */
export class Agree extends Task {
  flags: number;
  readonly comm: Communicator;
  private agreement: JoinedAgreement | null = null;

  constructor(comm: Communicator, flags: number) {
    super();
    this.comm = comm;
    this.flags = flags;
  }

  override advance(process: Process): boolean {
    this.agreement ??= joinAgreement(process, this.comm, this.flags);
    const verdict = nextVerdict(process, this.agreement);
    if (verdict === null) return false;
    this.flags = verdict.flags;
    this.error = verdict.error;
    return true;
  }

  override isStep(comm: Communicator): boolean {
    return agreesIn(this.agreement, comm);
  }
}

saves({ Agree });
