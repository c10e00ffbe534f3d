/**
 * Operations defined by a program (MPI 5.0 §6.9.5): inout = in ∘ inout, where `in` comes from the lower ranks.
 *
 * The function gets views that begin at the first item's origin. Data in front of the origin (a negative lower bound) is out of
 * its reach, so such types are refused. Functions of C programs are called by C support code, not from here.
 */
import { ErrorClass, MpiError } from "../../base/mpi-error.ts";
import type { Datatype } from "../datatype/datatype.ts";
import type { Kernel } from "../datatype/views.ts";
import { move } from "./kernels-bytes.ts";

type UserFunction = (invec: Uint8Array, inoutvec: Uint8Array, count: number, type: Datatype) => void;

export interface UserOp {
  readonly kind: "user";
  readonly call: UserFunction;
  readonly isCommutative: boolean;
}

export function userOp(call: UserFunction, isCommutative: boolean): UserOp {
  return { kind: "user", call, isCommutative };
}

export function userKernel(op: UserOp, type: Datatype): Kernel {
  if (type.trueLb < 0) {
    throw new MpiError(
      ErrorClass.UNSUPPORTED_OPERATION,
      `Cannot apply the operation to a datatype that begins ${-type.trueLb} bytes before its origin: it must begin at 0 or later`,
    );
  }
  return (l, la, r, ra, o, oa, count) => {
    if (count === 0) return;
    const bytes = (count - 1) * type.extent + type.trueUb;
    const invec = new Uint8Array(l.buffer, la, bytes);
    const inoutvec = new Uint8Array(o.buffer, oa, bytes);
    if (o.buffer === l.buffer && oa === la) {
      // The result goes where `in` is, which the function must not change: it works on a copy of the right side.
      const copy = r.uint8.slice(ra, ra + bytes);
      op.call(invec, copy, count, type);
      inoutvec.set(copy);
    } else {
      if (o.buffer !== r.buffer || oa !== ra) move(r, ra, o, oa, bytes);
      op.call(invec, inoutvec, count, type);
    }
  };
}
