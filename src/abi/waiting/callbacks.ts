/**
 * Functions of the program that we need called: user operations, error handlers, attribute functions. An import cannot call
 * them (JavaScript frames could not be saved), so it answers with a negative code instead; the wrapper in C asks `next` what
 * to call, calls it and reports to `done`, whose answer is that of the interrupted MPI function, or negative again.
 *
 * What happens then is a `Continuation`: plain data, because a process may be saved while its callback runs. Callbacks may
 * call MPI functions that call back themselves, so those under way are a stack.
 */

import type { Pointer } from "../../core/base/brand.ts";
import { lives, saves } from "../../core/base/saved-classes.ts";
import type { FunctionPointer } from "../handles/objects.ts";
import type { Program } from "../program.ts";

/** The answer of an import that wants something called first. */
export const CALL_BACK = -1;

/** Kinds of functions, as src/cc/support/callbacks.c knows them. */
export const CallKind = {
  /** void f(void *in, void *inout, int *length, MPI_Datatype *type) */
  OPERATION: 0,
  /** The same with an MPI_Count length. */
  OPERATION_LARGE: 1,
  /** void f(MPI_Comm *comm, int *code, ...) */
  ERROR_HANDLER: 2,
  /** int f(MPI_Comm old, int keyval, void *extra, void *in, void *out, int *flag) */
  ATTRIBUTE_COPY: 3,
  /** int f(MPI_Comm comm, int keyval, void *value, void *extra) */
  ATTRIBUTE_DELETE: 4,
  /** int f(void *extra, MPI_Status *status) */
  REQUEST_QUERY: 5,
  /** int f(void *extra) */
  REQUEST_FREE: 6,
  /** int f(void *extra, int complete) */
  REQUEST_CANCEL: 7,
  /** An error handler that was declared without its `...`: WebAssembly calls by exact type. */
  ERROR_HANDLER_PLAIN: 8,
} as const;
export type CallKind = (typeof CallKind)[keyof typeof CallKind];

/** Goes on after a callback: `result` is what it returned. Answers for the import that was interrupted. */
export interface Continuation {
  resume(program: Program, result: number): number;
  /** A collective waits for what the callback computes. */
  readonly combines?: boolean;
}

interface Wanted {
  readonly kind: CallKind;
  readonly function: FunctionPointer;
  readonly args: readonly number[];
}

/** Words of `struct banyan_call`. */
const C_KIND = 0;
const C_FUNCTION = 1;
const C_ARGS = 2;

export class Callbacks {
  private readonly program: Program;
  private wanted: Wanted | null = null;
  private readonly continuations: Continuation[] = [];

  constructor(program: Program) {
    this.program = program;
  }

  /** Wants a function called; the answer is for the wrapper. */
  call(kind: CallKind, fn: FunctionPointer, args: readonly number[], then: Continuation): number {
    this.wanted = { kind, function: fn, args };
    this.continuations.push(then);
    return CALL_BACK;
  }

  /** `answer`: what the import returns afterwards; null: the error's code, which the handler gets the address of. */
  callErrorHandler(fn: FunctionPointer, comm: number, code: number, answer: number | null = null): number {
    const { memory, ints } = this.program;
    const cells = memory.allocate(16);
    ints[cells >> 2] = comm;
    ints[(cells >> 2) + 1] = code;
    const isPlain = this.program.parametersOf(fn) === 2;
    const kind = isPlain ? CallKind.ERROR_HANDLER_PLAIN : CallKind.ERROR_HANDLER;
    return this.call(kind, fn, [cells, cells + 4], new AfterErrorHandler(cells, answer));
  }

  /** Is a function of the program at work for a collective? That one cannot go on before the function returns. */
  get areCombining(): boolean {
    return this.continuations.some(({ combines }) => combines === true);
  }

  /** Import `mpi.callback`: tells what is to be called. */
  next(call: number): void {
    const { ints } = this.program;
    const wanted = this.wanted!;
    this.wanted = null;
    ints[(call >> 2) + C_KIND] = wanted.kind;
    ints[(call >> 2) + C_FUNCTION] = wanted.function;
    for (const [i, value] of wanted.args.entries()) ints[(call >> 2) + C_ARGS + i] = value;
  }

  /** Import `mpi.callback_done`. */
  done(result: number): number {
    return this.continuations.pop()!.resume(this.program, result);
  }
}

class AfterErrorHandler implements Continuation {
  private readonly cells: number;
  private readonly answer: number | null;

  constructor(cells: number, answer: number | null) {
    this.cells = cells;
    this.answer = answer;
  }

  resume(program: Program): number {
    const code = program.ints[(this.cells >> 2) + 1]!;
    program.memory.free(this.cells as Pointer);
    return this.answer ?? code;
  }
}

lives({ Callbacks });

saves({ AfterErrorHandler });
