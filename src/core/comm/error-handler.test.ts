import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import {
  type ErrorHandling,
  errorsAbort,
  errorsAreFatal,
  errorsReturn,
  handle,
  userErrorHandler,
} from "./error-handler.ts";

const error = new MpiError(ErrorClass.TAG, "Cannot send with tag -9: tags are 0 or more");

function run(handler: ErrorHandling<string>): string[] {
  const calls: string[] = [];
  const end = (what: string) => (): never => {
    calls.push(what);
    throw new Error("ended");
  };
  try {
    const code = handle(handler, error, {
      endJob: end("job"),
      endMembers: end("members"),
      call: (callback, code) => calls.push(`${callback} ${code}`),
    });
    calls.push(`returns ${code}`);
  } catch {}
  return calls;
}

test("M4 §9.3 what each kind of error handler does", () => {
  assert.deepEqual(run(errorsAreFatal), ["job"]);
  assert.deepEqual(run(errorsAbort), ["members"]);
  assert.deepEqual(run(errorsReturn), ["returns 4"]);
  assert.deepEqual(run(userErrorHandler("communicator", "mine")), ["mine 4", "returns 4"]);
});

test("M4 §9.3 the predefined handlers have the numbers of the ABI", () => {
  assert.deepEqual(
    [errorsAreFatal, errorsAbort, errorsReturn].map(({ handle }) => handle),
    [0x141, 0x142, 0x143],
  );
});
