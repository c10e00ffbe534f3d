/**
 * Lines of sources, and checks for null pointers, in a module that Binaryen is about to change. Binaryen carries the place of each
 * expression through its passes and writes a source map of the result; it reads none. So the places of DWARF are given to the
 * expressions here: those whose instructions a stack trace can name (instructions.ts).
 */
import type binaryenPackage from "binaryen";
import { assert } from "../../core/base/assert.ts";
import { type Binaryen, type Expression, ExpressionWalk, type TracedNode } from "./expression-walk.ts";
import { type TracedInstruction, tracedInstructions } from "./instructions.ts";
import { type LineTable, namesVariables, readLineTable, type SourcePlace } from "./line-table.ts";
import { type ModuleParts, partsOf, withoutSections } from "./module-parts.ts";
import { NullChecks } from "./null-checks.ts";

type Module = binaryenPackage.Module;
type Function = binaryenPackage.FunctionRef;

/** What is known of a module's sources. */
interface DebugInformation {
  readonly parts: ModuleParts;
  readonly lines: LineTable;
  /** Shall accesses through null pointers trap? */
  readonly checksNull: boolean;
}

/** Undefined: the program was compiled without `-g`. */
export function debugInformation(module: Uint8Array, mayCheckNull: boolean): DebugInformation | undefined {
  const parts = partsOf(module);
  const lines = readLineTable(parts.custom);
  if (lines.isEmpty) return undefined;
  return { parts, lines, checksNull: mayCheckNull && namesVariables(parts.custom) };
}

/** The module as Binaryen shall read it: it would keep the debug information, which is wrong afterwards. */
export const withoutDebugSections = (module: Uint8Array): Uint8Array => withoutSections(module, /^\.debug_/);

/** Called before anything of the module is changed. */
export function placeLines(binaryen: Binaryen, module: Module, { parts, lines, checksNull }: DebugInformation): void {
  const placing = new LinePlacing(module);
  const walk = new ExpressionWalk(binaryen);
  // Before the checks add a function of their own.
  const functions = ownFunctions(binaryen, module);
  assert(functions.length === parts.bodies.length, "Binaryen has as many functions as the module");
  const checks = checksNull ? new NullChecks(binaryen, module) : null;
  for (const [index, body] of parts.bodies.entries()) {
    const instructions = tracedInstructions(parts.module, body);
    if (instructions === undefined) continue;
    const function_ = functions[index]!;
    const hasLines = instructions.some(({ at }) => lines.at(at - parts.codeFrom) !== null);
    if (!hasLines && checks === null) continue;
    const nodes = walk.traced(binaryen.getFunctionInfo(function_).body);
    const addresses = addressesOf(nodes, instructions);
    for (const [at, node] of nodes.entries()) {
      const address = addresses?.[at];
      const place = address === undefined ? null : lines.at(address - parts.codeFrom);
      if (place !== null) placing.put(function_, node.expression, place);
      const added = checks?.add(function_, node) ?? [];
      if (place !== null) for (const expression of added) placing.put(function_, expression, place);
    }
  }
}

/** The functions of the module that are no imports, in the order of its code. */
function ownFunctions(binaryen: Binaryen, module: Module): Function[] {
  const functions: Function[] = [];
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const function_ = module.getFunctionByIndex(index);
    if (!binaryen.getFunctionInfo(function_).module) functions.push(function_);
  }
  return functions;
}

/** The offset of each node's instruction; undefined: the orders differ, and nothing can be said. */
function addressesOf(nodes: readonly TracedNode[], all: readonly TracedInstruction[]): number[] | undefined {
  const order = nodes.map(({ kind }) => kind).join("");
  for (const instructions of [all, all.filter(({ isDead }) => !isDead)]) {
    if (instructions.map(({ kind }) => kind).join("") === order) return instructions.map(({ at }) => at);
  }
  return undefined;
}

class LinePlacing {
  readonly #module: Module;
  readonly #files = new Map<string, number>();

  constructor(module: Module) {
    this.#module = module;
  }

  put(function_: Function, expression: Expression, { file, line, column }: SourcePlace): void {
    let index = this.#files.get(file);
    if (index === undefined) {
      index = this.#module.addDebugInfoFileName(file);
      this.#files.set(file, index);
    }
    this.#module.setDebugLocation(function_, expression, index, line, column);
  }
}
