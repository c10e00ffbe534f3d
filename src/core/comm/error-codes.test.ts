import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorClass, errorClassName, MpiError } from "../base/mpi-error.ts";
import { ErrorCodes } from "./error-codes.ts";

test("M4 §9.4 every predefined class is its own code and has a text; the numbers are those of the ABI", () => {
  const codes = new ErrorCodes();
  const classes = Object.values(ErrorClass).filter((code) => code !== ErrorClass.LASTCODE);
  assert.deepEqual(
    classes.slice(0, 63),
    Array.from({ length: 63 }, (_, i) => i),
  );
  for (const code of classes) {
    assert.equal(codes.classOf(code), code);
    assert.match(codes.stringOf(code), /^MPI_(SUCCESS|ERR_[A-Z_]+): [a-z]/);
  }
  assert.equal(codes.stringOf(ErrorClass.RANK), "MPI_ERR_RANK: invalid rank");
  assert.equal(errorClassName(ErrorClass.REVOKED), "MPI_ERR_REVOKED");
  assert.equal(new MpiError(ErrorClass.PROC_FAILED, "it is dead").className, "MPI_ERR_PROC_FAILED");
});

test("M4 §9.5 Add_error_class, _code, _string; LASTUSEDCODE follows", () => {
  const codes = new ErrorCodes();
  assert.equal(codes.lastUsed, ErrorClass.LASTCODE);
  const own = codes.addClass();
  const [first, second] = [codes.addCode(own), codes.addCode(ErrorClass.IO)];
  assert.ok(own > ErrorClass.LASTCODE && first > own && second > first);
  assert.equal(codes.lastUsed, second);
  assert.deepEqual(
    [own, first, second].map((code) => codes.classOf(code)),
    [own, own, ErrorClass.IO],
  );
  assert.equal(codes.stringOf(first), "");
  codes.addString(first, "the soup is cold");
  codes.addString(first, "the soup is gone");
  assert.equal(codes.stringOf(first), "the soup is gone");
});

test("M4 §9.5 Remove_error_string, _code, _class, in that order", () => {
  const codes = new ErrorCodes();
  const own = codes.addClass();
  const code = codes.addCode(own);
  codes.addString(code, "x");
  codes.removeString(code);
  assert.equal(codes.stringOf(code), "");
  assert.throws(() => codes.removeString(code), { code: ErrorClass.ARG });
  assert.throws(() => codes.removeClass(own), {
    code: ErrorClass.ARG,
    message: `Cannot remove error class ${own}: its code ${code} is still there`,
  });
  assert.throws(() => codes.removeCode(own), { code: ErrorClass.ARG });
  assert.throws(() => codes.removeClass(code), { code: ErrorClass.ARG });
  codes.removeCode(code);
  codes.removeClass(own);
  assert.throws(() => codes.classOf(own), { code: ErrorClass.ARG });
  assert.ok(codes.addClass() > code);
});

test("M4 §9.5 what is predefined, or not there, cannot be changed", () => {
  const codes = new ErrorCodes();
  const code = codes.addCode(codes.addClass());
  assert.throws(() => codes.addString(ErrorClass.RANK, "x"), {
    code: ErrorClass.ARG,
    message: "Cannot set the text of error code 6: it is predefined",
  });
  assert.throws(() => codes.removeClass(ErrorClass.RANK), { code: ErrorClass.ARG });
  assert.throws(() => codes.addCode(code), { code: ErrorClass.ARG });
  assert.throws(() => codes.addCode(12345), { code: ErrorClass.ARG });
  assert.throws(() => codes.addString(code, "x".repeat(512)), { code: ErrorClass.ARG });
  assert.throws(() => codes.stringOf(-1), { code: ErrorClass.ARG });
});
