/** A call that waits for what all members of a file do together (together.ts). */
import { MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { ErrorSubject } from "../handles/objects.ts";
import type { Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { waitThen } from "../waiting/waiting.ts";
import type { Together } from "./together.ts";

/** The call has succeeded. */
export class Done implements Continuation {
  resume(): number {
    return 0;
  }
}

/** `subject` hears of an error; without one the call goes on with `then`. */
export function doTogether(program: Program, task: Together, subject: ErrorSubject, then: Continuation): number {
  return waitThen(program, program.operations.startTask(task), new DoneTogether(task, subject, then));
}

class DoneTogether implements Continuation {
  private readonly task: Together;
  private readonly subject: ErrorSubject;
  private readonly next: Continuation;

  constructor(task: Together, subject: ErrorSubject, then: Continuation) {
    this.task = task;
    this.subject = subject;
    this.next = then;
  }

  resume(program: Program): number {
    const { request, error, why, culprit } = this.task;
    program.operations.end(request);
    program.owner = this.subject;
    if (error === 0) return this.next.resume(program, 0);
    const others = `${program.errorCodes.stringOf(error)}${culprit < 0 ? "" : `, says rank ${culprit} of the file`}`;
    throw new MpiError(error, why || `Cannot do it together with others: ${others}`);
  }
}

saves({ Done, DoneTogether });
