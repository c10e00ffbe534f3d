/** Requests that go on without the program. */
import { saves } from "../../core/base/saved-classes.ts";
import type { Leftover } from "../../core/binding/finish-later.ts";
import type { After, CRequest } from "../handles/objects.ts";
import type { Program } from "../program.ts";

/** What is left to do for a program when one of its requests is complete. */
export class AfterAll implements Leftover {
  private readonly program: Program;
  private readonly after: After;

  constructor(program: Program, after: After) {
    this.program = program;
    this.after = after;
  }

  finish(bytes: number, error: number): void {
    this.after.finish(this.program, bytes, error);
  }
}

/** The program does not want the outcome; what was to be received is received all the same. */
export function forget(program: Program, { record, after }: CRequest): void {
  if (after === null) program.operations.abandon(record);
  else program.operations.finishLater(record, new AfterAll(program, after));
}

saves({ AfterAll });
