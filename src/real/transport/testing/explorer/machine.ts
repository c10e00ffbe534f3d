/**
 * Runs decoded WebAssembly one *visible* operation at a time: atomic operations, notifications and halves of a memory.copy
 * are what other threads can see the order of; everything between two of them belongs to the one before. Memory is
 * sequentially consistent here; the real one is for atomics, and plain accesses are ordered by them.
 */
import { assert } from "../../../../core/base/assert.ts";
import { type DecodedModule, type Instruction, Op } from "./decoder.ts";

export type Value = number | bigint;

interface Frame {
  readonly function: number;
  at: number;
  readonly locals: Value[];
  readonly stack: Value[];
  /** The first half of a memory.copy is done. */
  halfCopied: boolean;
}

/** A call under way; plain data, copied before each step so that the explorer can go back. */
export type CallStack = Frame[];

export const copyCall = (call: CallStack): CallStack =>
  call.map((frame) => ({ ...frame, locals: frame.locals.slice(), stack: frame.stack.slice() }));

const isVisible = (op: number) => op >= Op.MEMORY_COPY;

/** What a step did beyond changing memory. */
interface StepOutcome {
  /** The call has returned; `value` is its result, 0 without one. */
  readonly returned: boolean;
  readonly value: number;
  /** Address of a word whose sleeper has been woken, or −1. */
  readonly notified: number;
}

export class Machine {
  readonly #program: DecodedModule;
  readonly #globals: readonly number[];
  words: Int32Array;
  #bytes: Uint8Array;
  #wide: BigInt64Array;
  #notified = -1;
  /** Words the last step may have changed. */
  readonly written: number[] = [];

  constructor(program: DecodedModule, globals: Record<string, number>) {
    this.#program = program;
    this.#globals = program.globals.map((name) => globals[name]!);
    this.words = new Int32Array(0);
    this.#bytes = new Uint8Array(0);
    this.#wide = new BigInt64Array(0);
  }

  /** All threads' machines look at the memory of the state being explored. */
  look(words: Int32Array): void {
    this.words = words;
    this.#bytes = new Uint8Array(words.buffer);
    this.#wide = new BigInt64Array(words.buffer);
  }

  /** Begins a call and runs it up to its first visible operation. */
  begin(name: string, args: readonly number[]): CallStack {
    const index = this.#program.exports.get(name);
    assert(index !== undefined, `the module exports ${name}`);
    const call: CallStack = [];
    this.#enter(call, index, args.slice());
    this.#runHidden(call);
    return call;
  }

  /** Does the visible operation the call stands before, and everything up to the next one. */
  step(call: CallStack): StepOutcome {
    const frame = call.at(-1)!;
    const instruction = this.#program.functions[frame.function]!.code[frame.at]!;
    this.#notified = -1;
    this.written.length = 0;
    if (instruction.op === Op.MEMORY_COPY && !frame.halfCopied) {
      this.#copyHalf(frame);
      frame.halfCopied = true;
      return { returned: false, value: 0, notified: -1 };
    }
    frame.halfCopied = false;
    frame.at++;
    this.#visible(frame, instruction);
    const value = this.#runHidden(call);
    return { returned: call.length === 0, value, notified: this.#notified };
  }

  #enter(call: CallStack, index: number, args: Value[]): void {
    const { locals, params } = this.#program.functions[index]!;
    assert(args.length === params, "a call has the arguments its function takes");
    const all = args.concat(locals.map((isWide) => (isWide ? 0n : 0)));
    call.push({ function: index, at: 0, locals: all, stack: [], halfCopied: false });
  }

  /** Returns the outermost function's result when it has returned. */
  #runHidden(call: CallStack): number {
    for (;;) {
      const frame = call.at(-1)!;
      const instruction = this.#program.functions[frame.function]!.code[frame.at]!;
      if (isVisible(instruction.op)) return 0;
      frame.at++;
      if (instruction.op === Op.RETURN) {
        const { results } = this.#program.functions[frame.function]!;
        const result = results === 0 ? undefined : frame.stack.at(-1)!;
        call.pop();
        if (call.length === 0) return Number(result ?? 0);
        if (result !== undefined) call.at(-1)!.stack.push(result);
      } else if (instruction.op === Op.CALL) {
        const { params } = this.#program.functions[instruction.a]!;
        this.#enter(call, instruction.a, frame.stack.splice(frame.stack.length - params, params));
      } else this.#hidden(frame, instruction);
    }
  }

  #hidden(frame: Frame, { op, a, b }: Instruction): void {
    const { stack, locals } = frame;
    switch (op) {
      case Op.BR:
        stack.length = b;
        frame.at = a;
        return;
      case Op.BR_IF:
        if (stack.pop() !== 0) {
          stack.length = b;
          frame.at = a;
        }
        return;
      case Op.BR_UNLESS:
        if (stack.pop() === 0) frame.at = a;
        return;
      case Op.DROP:
        stack.pop();
        return;
      case Op.LOCAL_GET:
        stack.push(locals[a]!);
        return;
      case Op.LOCAL_SET:
        locals[a] = stack.pop()!;
        return;
      case Op.LOCAL_TEE:
        locals[a] = stack.at(-1)!;
        return;
      case Op.GLOBAL_GET:
        stack.push(this.#globals[a]!);
        return;
      case Op.I32_CONST:
        stack.push(a);
        return;
      case Op.I64_CONST:
        stack.push(this.#program.wide[b]!);
        return;
      case Op.I32_LOAD:
        stack.push(this.words[((stack.pop() as number) + a) >> 2]!);
        return;
      case Op.I32_STORE: {
        const value = stack.pop() as number;
        this.#write(((stack.pop() as number) + a) >> 2, value);
        return;
      }
      case Op.I32_EQZ:
      case Op.I64_EQZ:
        stack.push(Number(stack.pop()) === 0 ? 1 : 0);
        return;
      case Op.I32_WRAP:
        stack.push(Number(BigInt.asIntN(32, stack.pop() as bigint)));
        return;
      case Op.I64_EXTEND_U:
        stack.push(BigInt((stack.pop() as number) >>> 0));
        return;
      default: {
        const right = stack.pop()!;
        const left = stack.pop()!;
        stack.push(
          typeof left === "bigint" ? wideBinary(op, left, right as bigint) : binary(op, left, right as number),
        );
      }
    }
  }

  #visible({ stack }: Frame, { op, a }: Instruction): void {
    const words = this.words;
    const wide = this.#wide;
    switch (op) {
      case Op.I32_ATOMIC_LOAD:
        stack.push(words[((stack.pop() as number) + a) >> 2]!);
        return;
      case Op.I64_ATOMIC_LOAD:
        stack.push(wide[((stack.pop() as number) + a) >> 3]!);
        return;
      case Op.I32_ATOMIC_STORE: {
        const value = stack.pop() as number;
        this.#write(((stack.pop() as number) + a) >> 2, value);
        return;
      }
      case Op.I64_ATOMIC_STORE: {
        const value = stack.pop() as bigint;
        this.#writeWide(((stack.pop() as number) + a) >> 3, value);
        return;
      }
      case Op.I32_ADD_RMW:
      case Op.I32_OR_RMW:
      case Op.I32_XCHG: {
        const value = stack.pop() as number;
        const at = ((stack.pop() as number) + a) >> 2;
        const was = words[at]!;
        this.#write(at, op === Op.I32_ADD_RMW ? was + value : op === Op.I32_OR_RMW ? was | value : value);
        stack.push(was);
        return;
      }
      case Op.I64_AND_RMW: {
        const value = stack.pop() as bigint;
        const at = ((stack.pop() as number) + a) >> 3;
        stack.push(wide[at]!);
        this.#writeWide(at, wide[at]! & value);
        return;
      }
      case Op.I32_CMPXCHG: {
        const [now, expected] = [stack.pop() as number, stack.pop() as number];
        const at = ((stack.pop() as number) + a) >> 2;
        const was = words[at]!;
        if (was === expected) this.#write(at, now);
        stack.push(was);
        return;
      }
      case Op.I64_CMPXCHG: {
        const [now, expected] = [stack.pop() as bigint, stack.pop() as bigint];
        const at = ((stack.pop() as number) + a) >> 3;
        const was = wide[at]!;
        if (was === expected) this.#writeWide(at, now);
        stack.push(was);
        return;
      }
      case Op.NOTIFY:
        stack.pop();
        this.#notified = (stack.pop() as number) + a;
        stack.push(1);
        return;
      case Op.MEMORY_COPY: {
        const bytes = stack.pop() as number;
        const from = stack.pop() as number;
        this.#copy(stack.pop() as number, from, bytes);
        return;
      }
      default:
        assert(false, `opcode 0x${op.toString(16)} is not one the machine runs`);
    }
  }

  #copyHalf({ stack }: Frame): void {
    const [to, from, bytes] = stack.slice(-3) as [number, number, number];
    this.#copy(to, from, bytes >> 1);
  }

  #write(word: number, value: number): void {
    this.words[word] = value;
    this.written.push(word);
  }
  #writeWide(at: number, value: bigint): void {
    this.#wide[at] = value;
    this.written.push(2 * at, 2 * at + 1);
  }
  #copy(to: number, from: number, bytes: number): void {
    this.#bytes.copyWithin(to, from, from + bytes);
    for (let word = to >> 2; word << 2 < to + bytes; word++) this.written.push(word);
  }
}

function binary(op: number, left: number, right: number): number {
  switch (op) {
    case Op.I32_EQ:
      return left === right ? 1 : 0;
    case Op.I32_NE:
      return left !== right ? 1 : 0;
    case Op.I32_LT_U:
      return left >>> 0 < right >>> 0 ? 1 : 0;
    case Op.I32_GT_S:
      return left > right ? 1 : 0;
    case Op.I32_GT_U:
      return left >>> 0 > right >>> 0 ? 1 : 0;
    case Op.I32_GE_S:
      return left >= right ? 1 : 0;
    case Op.I32_GE_U:
      return left >>> 0 >= right >>> 0 ? 1 : 0;
    case Op.I32_ADD:
      return (left + right) | 0;
    case Op.I32_SUB:
      return (left - right) | 0;
    case Op.I32_AND:
      return left & right;
    case Op.I32_OR:
      return left | right;
    case Op.I32_SHL:
      return left << (right & 31);
    case Op.I32_SHR_U:
      return (left >>> (right & 31)) | 0;
    default:
      throw new Error(`opcode 0x${op.toString(16)} is not one the machine runs`);
  }
}

function wideBinary(op: number, left: bigint, right: bigint): Value {
  switch (op) {
    case Op.I64_EQ:
      return left === right ? 1 : 0;
    case Op.I64_NE:
      return left !== right ? 1 : 0;
    case Op.I64_ADD:
      return BigInt.asIntN(64, left + right);
    case Op.I64_SUB:
      return BigInt.asIntN(64, left - right);
    case Op.I64_OR:
      return left | right;
    case Op.I64_XOR:
      return left ^ right;
    case Op.I64_SHL:
      return BigInt.asIntN(64, left << (right & 63n));
    case Op.I64_SHR_U:
      return BigInt.asIntN(64, BigInt.asUintN(64, left) >> (right & 63n));
    default:
      throw new Error(`opcode 0x${op.toString(16)} is not one the machine runs`);
  }
}
