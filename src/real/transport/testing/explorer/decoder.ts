/**
 * Decodes the assembled node.wat into instructions that the machine beside this file runs one by one. It knows the
 * sections and the instructions of that module, nothing more; anything else is an error that names the opcode.
 *
 * Binaryen's reader would not replace it: Binaryen gives a tree of its own, rewritten while it is read, which would have to be flattened into
 * steps again. Here the steps are the very instructions that V8 runs, in their order, which is what the explorer is to prove.
 */
import { assert } from "../../../../core/base/assert.ts";

/** One instruction: its opcode (0xfe and 0xfc prefixes as 0xfe00 + x, 0xfc00 + x), and its operands as the decoder resolved them. */
export interface Instruction {
  readonly op: number;
  /** Constant, index of a local, global or function, offset of an access, or the target of a branch. */
  readonly a: number;
  /** Branches: height the operand stack is cut to. i64.const: index in `DecodedModule.wide`. */
  readonly b: number;
}

interface Func {
  readonly name: string;
  readonly params: number;
  readonly results: number;
  /** Locals beyond the parameters: true for i64. */
  readonly locals: readonly boolean[];
  readonly code: readonly Instruction[];
}

export interface DecodedModule {
  readonly functions: readonly Func[];
  readonly exports: ReadonlyMap<string, number>;
  /** Names of the imported globals, in order: the module has no others. */
  readonly globals: readonly string[];
  /** 64-bit constants. */
  readonly wide: readonly bigint[];
}

export const Op = {
  BLOCK: 0x02,
  LOOP: 0x03,
  IF: 0x04,
  ELSE: 0x05,
  END: 0x0b,
  BR: 0x0c,
  BR_IF: 0x0d,
  RETURN: 0x0f,
  CALL: 0x10,
  DROP: 0x1a,
  LOCAL_GET: 0x20,
  LOCAL_SET: 0x21,
  LOCAL_TEE: 0x22,
  GLOBAL_GET: 0x23,
  I32_LOAD: 0x28,
  I32_STORE: 0x36,
  I32_CONST: 0x41,
  I64_CONST: 0x42,
  I32_EQZ: 0x45,
  I32_EQ: 0x46,
  I32_NE: 0x47,
  I32_LT_U: 0x49,
  I32_GT_S: 0x4a,
  I32_GT_U: 0x4b,
  I32_GE_S: 0x4e,
  I32_GE_U: 0x4f,
  I64_EQZ: 0x50,
  I64_EQ: 0x51,
  I64_NE: 0x52,
  I32_ADD: 0x6a,
  I32_SUB: 0x6b,
  I32_AND: 0x71,
  I32_OR: 0x72,
  I32_SHL: 0x74,
  I32_SHR_U: 0x76,
  I64_ADD: 0x7c,
  I64_SUB: 0x7d,
  I64_OR: 0x84,
  I64_XOR: 0x85,
  I64_SHL: 0x86,
  I64_SHR_U: 0x88,
  I32_WRAP: 0xa7,
  I64_EXTEND_U: 0xad,
  MEMORY_COPY: 0xfc0a,
  NOTIFY: 0xfe00,
  I32_ATOMIC_LOAD: 0xfe10,
  I64_ATOMIC_LOAD: 0xfe11,
  I32_ATOMIC_STORE: 0xfe17,
  I64_ATOMIC_STORE: 0xfe18,
  I32_ADD_RMW: 0xfe1e,
  I64_AND_RMW: 0xfe2d,
  I32_OR_RMW: 0xfe33,
  I32_XCHG: 0xfe41,
  I32_CMPXCHG: 0xfe48,
  I64_CMPXCHG: 0xfe49,
  /** Ours: continue at `a` when the condition is 0 (the head of an `if`). */
  BR_UNLESS: 0x100,
} as const;

/** How an instruction changes the height of the operand stack, for those where it is fixed. */
const change: Record<number, number> = {
  [Op.DROP]: -1,
  [Op.LOCAL_GET]: 1,
  [Op.LOCAL_SET]: -1,
  [Op.LOCAL_TEE]: 0,
  [Op.GLOBAL_GET]: 1,
  [Op.I32_LOAD]: 0,
  [Op.I32_STORE]: -2,
  [Op.I32_CONST]: 1,
  [Op.I64_CONST]: 1,
  [Op.I32_EQZ]: 0,
  [Op.I64_EQZ]: 0,
  [Op.I32_WRAP]: 0,
  [Op.I64_EXTEND_U]: 0,
  [Op.MEMORY_COPY]: -3,
  [Op.NOTIFY]: -1,
  [Op.I32_ATOMIC_LOAD]: 0,
  [Op.I64_ATOMIC_LOAD]: 0,
  [Op.I32_ATOMIC_STORE]: -2,
  [Op.I64_ATOMIC_STORE]: -2,
  [Op.I32_ADD_RMW]: -1,
  [Op.I64_AND_RMW]: -1,
  [Op.I32_OR_RMW]: -1,
  [Op.I32_XCHG]: -1,
  [Op.I32_CMPXCHG]: -2,
  [Op.I64_CMPXCHG]: -2,
  [Op.RETURN]: 0,
};
for (const op of [
  Op.I32_EQ,
  Op.I32_NE,
  Op.I32_LT_U,
  Op.I32_GT_S,
  Op.I32_GT_U,
  Op.I32_GE_S,
  Op.I32_GE_U,
  Op.I64_EQ,
  Op.I64_NE,
  Op.I32_ADD,
  Op.I32_SUB,
  Op.I32_AND,
  Op.I32_OR,
  Op.I32_SHL,
  Op.I32_SHR_U,
  Op.I64_ADD,
  Op.I64_SUB,
  Op.I64_OR,
  Op.I64_XOR,
  Op.I64_SHL,
  Op.I64_SHR_U,
])
  change[op] = -1;

const I64 = 0x7e;

class Reader {
  at = 0;
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
  byte(): number {
    return this.bytes[this.at++]!;
  }
  /** An unsigned LEB128 number below 2³². */
  u32(): number {
    return Number(BigInt.asUintN(32, this.#leb(false)));
  }
  s32(): number {
    return Number(this.#leb(true));
  }
  s64(): bigint {
    return BigInt.asIntN(64, this.#leb(true));
  }
  #leb(signed: boolean): bigint {
    let value = 0n;
    let shift = 0n;
    for (;;) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if ((byte & 0x80) === 0) return signed && (byte & 0x40) !== 0 ? value - (1n << shift) : value;
    }
  }
  name(): string {
    const length = this.u32();
    this.at += length;
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString("utf8");
  }
}

interface Type {
  readonly params: number;
  readonly results: number;
}

export function decode(bytes: Uint8Array): DecodedModule {
  const reader = new Reader(bytes);
  reader.at = 8;
  const types: Type[] = [];
  const typeOf: number[] = [];
  const globals: string[] = [];
  const exports = new Map<string, number>();
  const wide: bigint[] = [];
  const functions: Func[] = [];
  while (reader.at < bytes.length) {
    const section = reader.byte();
    const end = reader.u32() + reader.at;
    if (section === 0) reader.at = end;
    const count = reader.at === end ? 0 : reader.u32();
    for (let i = 0; i < count; i++) {
      if (section === 1) types.push(readType(reader));
      else if (section === 2) readImport(reader, globals);
      else if (section === 3) typeOf.push(reader.u32());
      else if (section === 7) readExport(reader, exports);
      else if (section === 10) functions.push(readFunction(reader, { index: i, types, typeOf, wide, exports }));
      else assert(false, `section ${section} of a module that the explorer does not know`);
    }
    assert(reader.at === end, `section ${section} was read to its end`);
  }
  return { functions, exports, globals, wide };
}

function readType(reader: Reader): Type {
  assert(reader.byte() === 0x60, "types are functions");
  const params = reader.u32();
  reader.at += params;
  const results = reader.u32();
  reader.at += results;
  return { params, results };
}

function readImport(reader: Reader, globals: string[]): void {
  reader.name();
  const name = reader.name();
  const kind = reader.byte();
  if (kind === 2) {
    assert(reader.byte() === 3, "the memory is shared and has a maximum");
    reader.u32();
    reader.u32();
  } else {
    assert(kind === 3 && reader.byte() === 0x7f && reader.byte() === 0, "other imports are constant i32 globals");
    globals.push(name);
  }
}

function readExport(reader: Reader, exports: Map<string, number>): void {
  const name = reader.name();
  assert(reader.byte() === 0, "exports are functions");
  exports.set(name, reader.u32());
}

interface Context {
  readonly index: number;
  readonly types: readonly Type[];
  readonly typeOf: readonly number[];
  readonly wide: bigint[];
  readonly exports: ReadonlyMap<string, number>;
}

/** A block that is open while its body is decoded. */
interface Label {
  readonly isLoop: boolean;
  /** Where a branch to a loop goes. */
  readonly start: number;
  readonly height: number;
  /** Branches that go to the end of the block, still without a target; and the head of an `if`. */
  readonly open: number[];
  head: number;
}

function readFunction(reader: Reader, context: Context): Func {
  const end = reader.u32() + reader.at;
  const type = context.types[context.typeOf[context.index]!]!;
  const locals: boolean[] = [];
  for (let groups = reader.u32(); groups > 0; groups--) {
    const count = reader.u32();
    const isWide = reader.byte() === I64;
    for (let i = 0; i < count; i++) locals.push(isWide);
  }
  const code: { op: number; a: number; b: number }[] = [];
  const labels: Label[] = [{ isLoop: false, start: 0, height: 0, open: [], head: -1 }];
  let height = 0;
  const emit = (op: number, a = 0, b = 0) => code.push({ op, a, b });
  const branch = (op: number, depth: number) => {
    const label = labels[labels.length - 1 - depth]!;
    if (!label.isLoop) label.open.push(code.length);
    emit(op, label.start, label.height);
  };
  while (reader.at < end) {
    let op = reader.byte();
    if (op === 0xfe || op === 0xfc) op = (op << 8) | reader.u32();
    switch (op) {
      case Op.BLOCK:
      case Op.LOOP:
      case Op.IF:
        assert(reader.byte() === 0x40, "blocks have no results");
        if (op === Op.IF) height--;
        labels.push({
          isLoop: op === Op.LOOP,
          start: code.length,
          height,
          open: [],
          head: op === Op.IF ? code.length : -1,
        });
        if (op === Op.IF) emit(Op.BR_UNLESS, 0, height);
        break;
      case Op.ELSE: {
        const label = labels.at(-1)!;
        label.open.push(code.length);
        emit(Op.BR, 0, label.height);
        code[label.head]!.a = code.length;
        label.head = -1;
        height = label.height;
        break;
      }
      case Op.END: {
        const label = labels.pop()!;
        for (const at of label.open) code[at]!.a = code.length;
        if (label.head >= 0) code[label.head]!.a = code.length;
        height = label.height;
        break;
      }
      case Op.BR:
        branch(op, reader.u32());
        break;
      case Op.BR_IF:
        height--;
        branch(op, reader.u32());
        break;
      case Op.CALL: {
        const callee = reader.u32();
        const { params, results } = context.types[context.typeOf[callee]!]!;
        height += results - params;
        emit(op, callee);
        break;
      }
      case Op.I64_CONST:
        emit(op, 0, context.wide.push(reader.s64()) - 1);
        height++;
        break;
      default: {
        const by = change[op];
        assert(by !== undefined, `opcode 0x${op.toString(16)} is not one the explorer knows`);
        emit(op, readImmediate(reader, op));
        height += by;
      }
    }
  }
  emit(Op.RETURN);
  const name = [...context.exports].find(([, index]) => index === context.index)?.[0] ?? `function ${context.index}`;
  return { name, params: type.params, results: type.results, locals, code };
}

function readImmediate(reader: Reader, op: number): number {
  if (op === Op.I32_CONST) return reader.s32();
  if (op >= Op.LOCAL_GET && op <= Op.GLOBAL_GET) return reader.u32();
  if (op === Op.I32_LOAD || op === Op.I32_STORE || op >= 0xfe00) {
    reader.u32(); // alignment
    return reader.u32();
  }
  if (op === Op.MEMORY_COPY) reader.at += 2;
  return 0;
}
