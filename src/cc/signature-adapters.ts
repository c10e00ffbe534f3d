/**
 * Calls of a function under another signature than its own: without a prototype, or with a wrong one. Native code passes such
 * arguments in registers and mostly works; wasm-ld warns and calls a function that traps instead of the real one. Here that
 * function gets a body which passes the call on as native code would.
 *
 * As on x86-64 and arm64 integers and floating-point numbers are counted apart: the n-th integer of the call is the n-th
 * integer parameter of the function. Surplus arguments are dropped, missing ones are zero, and widths are converted.
 */
import type binaryenPackage from "binaryen";

type Binaryen = typeof binaryenPackage;
type Module = binaryenPackage.Module;
type Type = binaryenPackage.Type;
type Expression = binaryenPackage.ExpressionRef;

const stubPrefix = "signature_mismatch:";

/** The names of such functions, from the messages of wasm-ld. */
export function mismatchedFunctions(stderr: string): string[] {
  return [...new Set([...stderr.matchAll(/warning: function signature mismatch: (\S+)/g)].map(([, name]) => name!))];
}

/** Fills the functions that wasm-ld left in a module whose functions have their names. */
export function adaptSignatures(binaryen: Binaryen, module: Module): void {
  const names = functionNames(binaryen, module);
  for (const stub of names) {
    if (!stub.startsWith(stubPrefix)) continue;
    const real = realName(stub.slice(stubPrefix.length), names);
    if (real !== undefined) adapt(binaryen, module, stub, real);
  }
}

export function functionNames(binaryen: Binaryen, module: Module): Set<string> {
  const names = new Set<string>();
  for (let index = 0; index < module.getNumFunctions(); index++) {
    names.add(binaryen.getFunctionInfo(module.getFunctionByIndex(index)).name);
  }
  return names;
}

/** A function that is called in two wrong ways has two of them; Binaryen numbers functions of the same name. */
function realName(name: string, names: ReadonlySet<string>): string | undefined {
  return [name, name.replace(/_\d+$/, "")].find((each) => names.has(each));
}

function adapt(binaryen: Binaryen, module: Module, stub: string, real: string): void {
  const called = binaryen.getFunctionInfo(module.getFunction(stub));
  const own = binaryen.getFunctionInfo(module.getFunction(real));
  const given = binaryen.expandType(called.params);
  const wanted = binaryen.expandType(own.params);
  const isFloat = (type: Type): boolean => type === binaryen.f32 || type === binaryen.f64;
  const queues = {
    floats: [...given.keys()].filter((index) => isFloat(given[index]!)),
    wholes: [...given.keys()].filter((index) => !isFloat(given[index]!)),
  };
  const converter = new Converter(binaryen, module);
  const args = wanted.map((type) => {
    const index = (isFloat(type) ? queues.floats : queues.wholes).shift();
    if (index === undefined) return converter.zero(type);
    return converter.convert(module.local.get(index, given[index]!), given[index]!, type);
  });
  const call = module.call(real, args, own.results);
  module.removeFunction(stub);
  module.addFunction(stub, called.params, called.results, [], converter.result(call, own.results, called.results));
}

class Converter {
  readonly #binaryen: Binaryen;
  readonly #module: Module;

  constructor(binaryen: Binaryen, module: Module) {
    this.#binaryen = binaryen;
    this.#module = module;
  }

  zero(type: Type): Expression {
    const { i32, i64, f32, f64 } = this.#binaryen;
    const module = this.#module;
    if (type === i32) return module.i32.const(0);
    if (type === i64) return module.i64.const(0, 0);
    if (type === f32) return module.f32.const(0);
    return type === f64 ? module.f64.const(0) : module.unreachable();
  }

  convert(value: Expression, from: Type, to: Type): Expression {
    const { i32, i64, f32, f64 } = this.#binaryen;
    const module = this.#module;
    if (from === to) return value;
    if (from === i32 && to === i64) return module.i64.extend_s(value);
    if (from === i64 && to === i32) return module.i32.wrap(value);
    if (from === f32 && to === f64) return module.f64.promote(value);
    if (from === f64 && to === f32) return module.f32.demote(value);
    // Results only: native code would find a register that the function has not written.
    return module.block(null, [module.drop(value), this.zero(to)], to);
  }

  result(call: Expression, from: Type, to: Type): Expression {
    const { none } = this.#binaryen;
    const module = this.#module;
    if (from === to) return call;
    if (to === none) return module.drop(call);
    return from === none ? module.block(null, [call, this.zero(to)], to) : this.convert(call, from, to);
  }
}
