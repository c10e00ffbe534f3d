/**
 * Binaryen's tree of a function, in the order of its evaluation, which is that of the instructions in a module. By Binaryen's plain
 * functions: the package's own way to look at an expression takes ten times as long, and does not know all of them.
 */
import type binaryenPackage from "binaryen";
import { assert } from "../../core/base/assert.ts";
import { TracedKind } from "./instructions.ts";

export type Binaryen = typeof binaryenPackage;
export type Expression = binaryenPackage.ExpressionRef;

/** A node of the tree that stands for a traced instruction. */
export interface TracedNode {
  readonly kind: TracedKind;
  readonly id: number;
  readonly expression: Expression;
}

type Getter = (expression: Expression, index?: number) => number;

/** A part of an expression, or a list of parts. */
type Part = Getter | { readonly count: Getter; readonly at: Getter };

/** By the name of an expression: the names of its parts, in the order of evaluation; a list has the name of one of its parts. */
const partNames: Readonly<Record<string, readonly string[]>> = {
  Block: ["Child[]"],
  If: ["Condition", "IfTrue", "IfFalse"],
  Loop: ["Body"],
  Break: ["Value", "Condition"],
  Switch: ["Value", "Condition"],
  Call: ["Operand[]"],
  CallIndirect: ["Operand[]", "Target"],
  LocalSet: ["Value"],
  GlobalSet: ["Value"],
  TableGet: ["Index"],
  TableSet: ["Index", "Value"],
  TableGrow: ["Value", "Delta"],
  Load: ["Ptr"],
  Store: ["Ptr", "Value"],
  Unary: ["Value"],
  Binary: ["Left", "Right"],
  Select: ["IfTrue", "IfFalse", "Condition"],
  Drop: ["Value"],
  Return: ["Value"],
  MemoryGrow: ["Delta"],
  AtomicRMW: ["Ptr", "Value"],
  AtomicCmpxchg: ["Ptr", "Expected", "Replacement"],
  AtomicWait: ["Ptr", "Expected", "Timeout"],
  AtomicNotify: ["Ptr", "NotifyCount"],
  SIMDExtract: ["Vec"],
  SIMDReplace: ["Vec", "Value"],
  SIMDShuffle: ["Left", "Right"],
  SIMDTernary: ["A", "B", "C"],
  SIMDShift: ["Vec", "Shift"],
  SIMDLoad: ["Ptr"],
  SIMDLoadStoreLane: ["Ptr", "Vec"],
  MemoryInit: ["Dest", "Offset", "Size"],
  MemoryCopy: ["Dest", "Source", "Size"],
  MemoryFill: ["Dest", "Value", "Size"],
  Try: ["Body", "CatchBody[]"],
  Throw: ["Operand[]"],
  TupleMake: ["Operand[]"],
  TupleExtract: ["Tuple"],
};
const plurals: Readonly<Record<string, string>> = { Child: "Children", CatchBody: "CatchBodies", Operand: "Operands" };

const tracedNames: Readonly<Record<string, TracedKind>> = {
  Call: TracedKind.CALL,
  CallIndirect: TracedKind.CALL_INDIRECT,
  Load: TracedKind.LOAD,
  SIMDLoad: TracedKind.LOAD,
  Store: TracedKind.STORE,
  Unreachable: TracedKind.UNREACHABLE,
  MemoryInit: TracedKind.BULK,
  MemoryCopy: TracedKind.BULK,
  MemoryFill: TracedKind.BULK,
  SIMDLoadStoreLane: TracedKind.LANE,
  AtomicRMW: TracedKind.ATOMIC,
  AtomicCmpxchg: TracedKind.ATOMIC,
  AtomicWait: TracedKind.ATOMIC,
  AtomicNotify: TracedKind.ATOMIC,
};

export class ExpressionWalk {
  readonly #idOf: Getter;
  readonly #parts = new Map<number, readonly Part[]>();
  readonly #kinds = new Map<number, TracedKind>();
  /** Of unary and binary operations only some are traced. */
  readonly #operators = new Map<number, Getter>();
  readonly #tracedOperators: ReadonlyMap<number, TracedKind>;
  readonly #binaryId: number;

  constructor(b: Binaryen) {
    const all = b as unknown as Readonly<Record<string, unknown>>;
    const getter = (name: string): Getter => {
      const found = all[`_Binaryen${name}`];
      assert(typeof found === "function", `Binaryen has no ${name}`);
      return found as Getter;
    };
    const idOf = (name: string): number => all[`${name}Id`] as number;
    this.#idOf = getter("ExpressionGetId");
    for (const [name, parts] of Object.entries(partNames)) {
      const getters = parts.map((part): Part => {
        const one = /^(\w+)\[\]$/.exec(part)?.[1];
        if (one === undefined) return getter(`${name}Get${part}`);
        return { count: getter(`${name}GetNum${plurals[one]!}`), at: getter(`${name}Get${one}At`) };
      });
      this.#parts.set(idOf(name), getters);
    }
    for (const [name, kind] of Object.entries(tracedNames)) this.#kinds.set(idOf(name), kind);
    for (const name of ["Unary", "Binary"]) this.#operators.set(idOf(name), getter(`${name}GetOp`));
    const divisions = [
      ...[b.DivSInt32, b.DivUInt32, b.RemSInt32, b.RemUInt32],
      ...[b.DivSInt64, b.DivUInt64, b.RemSInt64, b.RemUInt64],
    ];
    const truncations = [
      ...[b.TruncSFloat32ToInt32, b.TruncUFloat32ToInt32, b.TruncSFloat64ToInt32, b.TruncUFloat64ToInt32],
      ...[b.TruncSFloat32ToInt64, b.TruncUFloat32ToInt64, b.TruncSFloat64ToInt64, b.TruncUFloat64ToInt64],
    ];
    this.#tracedOperators = new Map<number, TracedKind>([
      ...divisions.map((operator) => [2 * operator + 1, TracedKind.DIVISION] as const),
      ...truncations.map((operator) => [2 * operator, TracedKind.TRUNCATION] as const),
    ]);
    this.#binaryId = idOf("Binary");
  }

  /** The traced nodes of a function's body. */
  traced(body: Expression): TracedNode[] {
    const found: TracedNode[] = [];
    this.#walk(body, found);
    return found;
  }

  #walk(expression: Expression, found: TracedNode[]): void {
    if (expression === 0) return;
    const id = this.#idOf(expression);
    for (const part of this.#parts.get(id) ?? []) {
      if (typeof part === "function") this.#walk(part(expression), found);
      else {
        const count = part.count(expression);
        for (let index = 0; index < count; index++) this.#walk(part.at(expression, index), found);
      }
    }
    const kind = this.#kindOf(id, expression);
    if (kind !== undefined) found.push({ kind, id, expression });
  }

  #kindOf(id: number, expression: Expression): TracedKind | undefined {
    const operator = this.#operators.get(id)?.(expression);
    if (operator === undefined) return this.#kinds.get(id);
    // Operators of unary and of binary operations are numbered apart.
    return this.#tracedOperators.get(2 * operator + (id === this.#binaryId ? 1 : 0));
  }
}
