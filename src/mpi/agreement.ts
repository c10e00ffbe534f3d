/** The outcome of an agreement among the members of a communicator, some of which may have died (ULFM). */
import { MpiError } from "../core/base/mpi-error.ts";
import type { Agree } from "../core/process/agree.ts";
import type { AfterCompletion } from "./request.ts";

/** PROC_FAILED of an agreement: there is one all the same, the same for every member. */
export class AgreementError extends MpiError {
  readonly flags: number;
  constructor(code: number, flags: number) {
    super(code, "Cannot agree without objection: a member has failed that not everybody has acknowledged");
    this.flags = flags;
  }
}

export class AgreementOutcome implements AfterCompletion<number> {
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
