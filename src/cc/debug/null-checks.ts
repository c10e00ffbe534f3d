/**
 * Accesses of memory below 1024, where nothing of a program lies: null pointers and members of structures that are not there. In a
 * program that was compiled with `-g` every load and store looks at its address first, and calls a function that traps, whose name tells
 * the runtime what has happened (abi/crash).
 */
import type binaryenPackage from "binaryen";
import { lowMemoryBytes, nullAccessName } from "../../core/base/low-memory.ts";
import type { Binaryen, Expression, TracedNode } from "./expression-walk.ts";
import { TracedKind } from "./instructions.ts";

type Module = binaryenPackage.Module;
type Function = binaryenPackage.FunctionRef;

/** Parts of the package that its types do not have. */
interface BinaryenCalls {
  readonly _BinaryenFunctionAddVar: (function_: Function, type: binaryenPackage.Type) => number;
  readonly _BinaryenLoadGetPtr: (load: Expression) => Expression;
  readonly _BinaryenLoadSetPtr: (load: Expression, address: Expression) => void;
  readonly _BinaryenLoadGetOffset: (load: Expression) => number;
  readonly _BinaryenStoreGetPtr: (store: Expression) => Expression;
  readonly _BinaryenStoreSetPtr: (store: Expression, address: Expression) => void;
  readonly _BinaryenStoreGetOffset: (store: Expression) => number;
  readonly _BinaryenSIMDLoadGetPtr: (load: Expression) => Expression;
  readonly _BinaryenSIMDLoadSetPtr: (load: Expression, address: Expression) => void;
  readonly _BinaryenSIMDLoadGetOffset: (load: Expression) => number;
}

interface Accessors {
  readonly address: (expression: Expression) => Expression;
  readonly setAddress: (expression: Expression, address: Expression) => void;
  readonly offset: (expression: Expression) => number;
}

function accessorsOf(calls: BinaryenCalls): Readonly<Record<"load" | "store" | "simd", Accessors>> {
  return {
    load: {
      address: calls._BinaryenLoadGetPtr,
      setAddress: calls._BinaryenLoadSetPtr,
      offset: calls._BinaryenLoadGetOffset,
    },
    store: {
      address: calls._BinaryenStoreGetPtr,
      setAddress: calls._BinaryenStoreSetPtr,
      offset: calls._BinaryenStoreGetOffset,
    },
    simd: {
      address: calls._BinaryenSIMDLoadGetPtr,
      setAddress: calls._BinaryenSIMDLoadSetPtr,
      offset: calls._BinaryenSIMDLoadGetOffset,
    },
  };
}

export class NullChecks {
  readonly #binaryen: Binaryen;
  readonly #calls: BinaryenCalls;
  readonly #accessors: ReturnType<typeof accessorsOf>;
  readonly #module: Module;
  /** Of each function, the variable that holds an address while it is looked at. */
  readonly #variables = new Map<Function, number>();

  constructor(binaryen: Binaryen, module: Module) {
    this.#binaryen = binaryen;
    this.#calls = binaryen as unknown as BinaryenCalls;
    this.#accessors = accessorsOf(this.#calls);
    this.#module = module;
    module.addFunction(nullAccessName, binaryen.none, binaryen.none, [], module.unreachable());
  }

  /**
   * Gives what belongs to the node's place: the call that traps, and what comes before it, so that a debugger that stops at the first
   * instruction of a line stops there. Empty: the node needs no check.
   */
  add(function_: Function, { kind, id, expression }: TracedNode): Expression[] {
    if (kind !== TracedKind.LOAD && kind !== TracedKind.STORE) return [];
    const calls = this.#accessorsOf(id);
    const offset = calls.offset(expression) >>> 0;
    const address = calls.address(expression);
    if (offset >= lowMemoryBytes || this.#isKnown(address)) return [];
    const module = this.#module;
    const { i32 } = this.#binaryen;
    const variable = this.#variableOf(function_);
    const call = module.call(nullAccessName, [], this.#binaryen.none);
    const kept = module.local.tee(variable, address, i32);
    const isLow = module.i32.lt_u(kept, module.i32.const(lowMemoryBytes - offset));
    const checked = module.block(null, [module.if(isLow, call), module.local.get(variable, i32)], i32);
    calls.setAddress(expression, checked);
    return [kept, call];
  }

  /** A variable of the program, whose address is a number. */
  #isKnown(address: Expression): boolean {
    return this.#binaryen.getExpressionId(address) === this.#binaryen.ConstId;
  }

  #accessorsOf(id: number): Accessors {
    const { LoadId, StoreId } = this.#binaryen;
    return this.#accessors[id === LoadId ? "load" : id === StoreId ? "store" : "simd"];
  }

  #variableOf(function_: Function): number {
    let variable = this.#variables.get(function_);
    if (variable === undefined) {
      variable = this.#calls._BinaryenFunctionAddVar(function_, this.#binaryen.i32);
      this.#variables.set(function_, variable);
    }
    return variable;
  }
}
