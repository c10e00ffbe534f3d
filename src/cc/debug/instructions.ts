/**
 * The instructions of a function that a stack trace can name: calls, and whatever may trap. Their order is the same in the bytes of a
 * module and in Binaryen's trees, which is how a tree's node gets the address of its instruction (debug-lines.ts).
 */
import { WasmReader } from "../wasm-reader.ts";

/** One letter for each kind, so that the order of a whole function is a text. */
export const TracedKind = {
  CALL: "c",
  CALL_INDIRECT: "i",
  LOAD: "l",
  STORE: "s",
  DIVISION: "d",
  TRUNCATION: "t",
  UNREACHABLE: "u",
  BULK: "m",
  LANE: "v",
  ATOMIC: "a",
} as const;
export type TracedKind = (typeof TracedKind)[keyof typeof TracedKind];

export interface TracedInstruction {
  readonly kind: TracedKind;
  /** Offset in the module. */
  readonly at: number;
  /** No way leads there; Binaryen may have left it out. */
  readonly isDead: boolean;
}

const op = {
  UNREACHABLE: 0x00,
  TRY: 0x06,
  CATCH: 0x07,
  THROW: 0x08,
  RETHROW: 0x09,
  THROW_REF: 0x0a,
  ELSE: 0x05,
  END: 0x0b,
  BR: 0x0c,
  BR_IF: 0x0d,
  BR_TABLE: 0x0e,
  RETURN: 0x0f,
  CALL: 0x10,
  CALL_INDIRECT: 0x11,
  RETURN_CALL: 0x12,
  RETURN_CALL_INDIRECT: 0x13,
  DELEGATE: 0x18,
  CATCH_ALL: 0x19,
  SELECT_TYPED: 0x1c,
  TRY_TABLE: 0x1f,
  I32_CONST: 0x41,
  I64_CONST: 0x42,
  F32_CONST: 0x43,
  F64_CONST: 0x44,
  REF_NULL: 0xd0,
  REF_FUNC: 0xd2,
  MISC: 0xfc,
  SIMD: 0xfd,
  ATOMIC: 0xfe,
} as const;

const within = (code: number, from: number, to: number): boolean => code >= from && code <= to;

/** The traced instructions of a body, in order; undefined: it has an instruction that is not known here. */
export function tracedInstructions(
  module: Uint8Array,
  [from, to]: readonly [number, number],
): TracedInstruction[] | undefined {
  const reader = new WasmReader(module, from);
  for (let groups = reader.number(); groups > 0; groups--) {
    reader.number();
    reader.number();
  }
  const found: TracedInstruction[] = [];
  let depth = 0;
  /** The depth at which code became dead; -1: it is not. */
  let deadSince = -1;
  while (reader.at < to) {
    const at = reader.at;
    const code = reader.byte();
    if (code === op.ELSE || code === op.END || code === op.CATCH || code === op.CATCH_ALL || code === op.DELEGATE) {
      if (deadSince === depth) deadSince = -1;
      if (code === op.END || code === op.DELEGATE) depth--;
    }
    const kind = readInstruction(reader, code);
    if (kind === undefined) return undefined;
    if (kind !== "") found.push({ kind, at, isDead: deadSince >= 0 });
    if (within(code, 0x02, 0x04) || code === op.TRY || code === op.TRY_TABLE) depth++;
    if (endsPath(code) && deadSince < 0) deadSince = depth;
  }
  return found;
}

const endsPath = (code: number): boolean =>
  code === op.UNREACHABLE ||
  within(code, op.THROW, op.THROW_REF) ||
  code === op.BR ||
  code === op.BR_TABLE ||
  code === op.RETURN ||
  within(code, op.RETURN_CALL, op.RETURN_CALL_INDIRECT);

/** Reads what follows the opcode; the kind of a traced instruction, or "". */
function readInstruction(reader: WasmReader, code: number): TracedKind | "" | undefined {
  if (within(code, 0x28, 0x3e)) {
    readPlace(reader);
    return code < 0x36 ? TracedKind.LOAD : TracedKind.STORE;
  }
  if (within(code, 0x6d, 0x70) || within(code, 0x7f, 0x82)) return TracedKind.DIVISION;
  if (within(code, 0xa8, 0xab) || within(code, 0xae, 0xb1)) return TracedKind.TRUNCATION;
  if (within(code, 0x45, 0xc4)) return "";
  switch (code) {
    case op.UNREACHABLE:
      return TracedKind.UNREACHABLE;
    case op.CALL:
    case op.RETURN_CALL:
      reader.number();
      return TracedKind.CALL;
    case op.CALL_INDIRECT:
    case op.RETURN_CALL_INDIRECT:
      reader.number();
      reader.number();
      return TracedKind.CALL_INDIRECT;
    case op.MISC:
      return readMisc(reader);
    case op.SIMD:
      return readSimd(reader);
    case op.ATOMIC:
      return readAtomic(reader);
    default:
      return readPlain(reader, code) ? "" : undefined;
  }
}

/** Instructions that never are in a stack trace. */
function readPlain(reader: WasmReader, code: number): boolean {
  if (code === op.BR_TABLE || code === op.SELECT_TYPED) {
    const more = code === op.BR_TABLE ? 1 : 0;
    for (let count = reader.number() + more; count > 0; count--) reader.number();
  } else if (code === op.TRY_TABLE) {
    reader.number();
    for (let count = reader.number(); count > 0; count--) {
      if (reader.byte() < 2) reader.number();
      reader.number();
    }
  } else if (code === op.F32_CONST) reader.at += 4;
  else if (code === op.F64_CONST) reader.at += 8;
  else if (hasOneNumber(code)) reader.number();
  else if (!hasNothing(code)) return false;
  return true;
}

const hasOneNumber = (code: number): boolean =>
  within(code, 0x02, 0x04) ||
  within(code, op.TRY, op.RETHROW) ||
  within(code, op.BR, op.BR_IF) ||
  code === op.DELEGATE ||
  within(code, 0x20, 0x26) ||
  within(code, 0x3f, op.I64_CONST) ||
  code === op.REF_NULL ||
  code === op.REF_FUNC;

const hasNothing = (code: number): boolean =>
  code === 0x01 ||
  within(code, op.THROW_REF, op.END) ||
  code === op.ELSE ||
  code === op.RETURN ||
  code === op.CATCH_ALL ||
  within(code, 0x1a, 0x1b) ||
  code === 0xd1;

/** Alignment, where bit 6 says that a memory is named, and offset. */
function readPlace(reader: WasmReader): void {
  if ((reader.number() & 0x40) !== 0) reader.number();
  reader.number();
}

function readMisc(reader: WasmReader): TracedKind | "" | undefined {
  const code = reader.number();
  if (code <= 7) return "";
  if (code > 17) return undefined;
  reader.number();
  if (code === 8 || code === 10 || code === 12 || code === 14) reader.number();
  return code === 8 || code === 10 || code === 11 ? TracedKind.BULK : "";
}

function readSimd(reader: WasmReader): TracedKind | "" {
  const code = reader.number();
  if (code <= 11) {
    readPlace(reader);
    return code === 11 ? TracedKind.STORE : TracedKind.LOAD;
  }
  if (within(code, 84, 93)) {
    readPlace(reader);
    if (code >= 92) return TracedKind.LOAD;
    reader.byte();
    return TracedKind.LANE;
  }
  if (code === 12 || code === 13) reader.at += 16;
  else if (within(code, 21, 34)) reader.byte();
  return "";
}

function readAtomic(reader: WasmReader): TracedKind | "" {
  const code = reader.number();
  if (code === 3) {
    reader.byte();
    return "";
  }
  readPlace(reader);
  if (within(code, 0x10, 0x16)) return TracedKind.LOAD;
  return within(code, 0x17, 0x1d) ? TracedKind.STORE : TracedKind.ATOMIC;
}
