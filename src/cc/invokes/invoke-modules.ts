/**
 * Two small modules that take the place of Emscripten's `invoke_…` functions (`wasm-invokes.ts`). The first has the functions that the
 * large module imports; they exist before it does, so each only calls the entry of a table. The second is made when the large
 * module is there: its functions call what is to be called, catch an exception, and are put into that table.
 */
import { bodyBytes, wasmHead, wasmName, wasmNumber, wasmSection, wasmVector } from "./wasm-writer.ts";

/** Parameters, the index of the called function first, and result, as bytes of WebAssembly's types. */
export interface InvokeSignature {
  readonly params: readonly number[];
  readonly results: readonly number[];
}

const type = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, funcref: 0x70, none: 0x40 } as const;
const kind = { func: 0, table: 1 } as const;
const op = {
  try: 0x06,
  catchAll: 0x19,
  rethrow: 0x09,
  if: 0x04,
  end: 0x0b,
  call: 0x10,
  callIndirect: 0x11,
  localGet: 0x20,
  localSet: 0x21,
  i32Const: 0x41,
  i32Eqz: 0x45,
} as const;
const sectionId = { types: 1, imports: 2, functions: 3, table: 4, exports: 7, code: 10 } as const;

/** Exports a function for each signature, named by its number, and the table that it calls an entry of. */
export function relayModule(signatures: readonly InvokeSignature[]): Uint8Array {
  const count = signatures.length;
  const bodies = signatures.map(({ params }, at) => [
    ...params.flatMap((_, param) => [op.localGet, ...wasmNumber(param)]),
    ...[op.i32Const, ...signed(at), op.callIndirect, ...wasmNumber(at), 0],
  ]);
  return Uint8Array.from([
    ...wasmHead,
    ...wasmSection(sectionId.types, wasmVector(signatures.map(functionType))),
    ...wasmSection(sectionId.functions, wasmVector(signatures.map((_, at) => wasmNumber(at)))),
    ...wasmSection(sectionId.table, wasmVector([[type.funcref, 1, ...wasmNumber(count), ...wasmNumber(count)]])),
    ...wasmSection(
      sectionId.exports,
      wasmVector([...functionExports(count, 0), [...wasmName("table"), kind.table, 0]]),
    ),
    ...wasmSection(sectionId.code, wasmVector(bodies.map((body) => bodyBytes([], [...body, op.end])))),
  ]);
}

/**
 * Imports `large.table`, `large.save` and `large.restore` (the stack pointer), and `large.settle`, which says after an exception whether
 * it is one of C++'s; any other goes on its way.
 */
export function catchingModule(signatures: readonly InvokeSignature[]): Uint8Array {
  const importedTypes: InvokeSignature[] = [
    { params: [], results: [type.i32] },
    { params: [type.i32], results: [] },
  ];
  const [save, restore, settle] = [0, 1, 2];
  const [typeOfSave, typeOfRestore] = [0, 1];
  const first = importedTypes.length;
  const called = ({ params, results }: InvokeSignature): InvokeSignature => ({ params: params.slice(1), results });
  const types = [...importedTypes, ...signatures, ...signatures.map(called)];
  const imported = (what: string, described: readonly number[]): number[] => [
    ...wasmName("large"),
    ...wasmName(what),
    ...described,
  ];
  const bodies = signatures.map(({ params, results }, at) => {
    const pointer = wasmNumber(params.length);
    return bodyBytes(
      [type.i32],
      [
        ...[op.call, save, op.localSet, ...pointer],
        ...[op.try, results[0] ?? type.none],
        ...params.slice(1).flatMap((_, param) => [op.localGet, ...wasmNumber(param + 1)]),
        ...[op.localGet, 0, op.callIndirect, ...wasmNumber(first + signatures.length + at), 0],
        ...[op.catchAll, op.localGet, ...pointer, op.call, restore],
        ...[op.call, settle, op.i32Eqz, op.if, type.none, op.rethrow, 1, op.end],
        ...results.flatMap(zeroOf),
        ...[op.end, op.end],
      ],
    );
  });
  return Uint8Array.from([
    ...wasmHead,
    ...wasmSection(sectionId.types, wasmVector(types.map(functionType))),
    ...wasmSection(
      sectionId.imports,
      wasmVector([
        imported("save", [kind.func, typeOfSave]),
        imported("restore", [kind.func, typeOfRestore]),
        imported("settle", [kind.func, typeOfSave]),
        imported("table", [kind.table, type.funcref, 0, 0]),
      ]),
    ),
    ...wasmSection(sectionId.functions, wasmVector(signatures.map((_, at) => wasmNumber(first + at)))),
    ...wasmSection(sectionId.exports, wasmVector(functionExports(signatures.length, settle + 1))),
    ...wasmSection(sectionId.code, wasmVector(bodies)),
  ]);
}

function functionType({ params, results }: InvokeSignature): number[] {
  return [0x60, ...wasmVector(params.map((each) => [each])), ...wasmVector(results.map((each) => [each]))];
}

function functionExports(count: number, first: number): number[][] {
  return Array.from({ length: count }, (_, at) => [...wasmName(`${at}`), kind.func, ...wasmNumber(first + at)]);
}

/** What JavaScript's functions return after an exception, `undefined`, as a number. */
function zeroOf(result: number): number[] {
  switch (result) {
    case type.i32:
      return [op.i32Const, 0];
    case type.i64:
      return [0x42, 0];
    case type.f32:
      return [0x43, 0, 0, 0, 0];
    default:
      return [0x44, 0, 0, 0, 0, 0, 0, 0, 0];
  }
}

function signed(value: number): number[] {
  return value < 64 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
