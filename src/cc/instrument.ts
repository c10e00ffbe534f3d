/**
 * Binaryen: changes a linked module so that its stack can be unwound inside the given imports, and rewound later (Asyncify).
 * Functions that cannot reach these imports stay as clang made them. Indirect calls are always assumed to reach them: leaving
 * them out gives programs that crash later; but for some of the C library's (`steady-functions.ts`). With no imports (`--no-capture`) nothing can be unwound, and all functions stay.
 *
 * Binaryen's settings are global: one thread, one module at a time. After an abort it cannot be used again.
 */
import { pathToFileURL } from "node:url";
import type binaryenPackage from "binaryen";
import { debugInformation, placeLines, withoutDebugSections } from "./debug/debug-lines.ts";
import { withoutSections } from "./debug/module-parts.ts";
import { type KnownModules, withWasmInvokes } from "./invokes/wasm-invokes.ts";
import type { InstrumentRequest, Reply } from "./requests.ts";
import { adaptSignatures, functionNames } from "./signature-adapters.ts";
import { steadyFunctions } from "./steady-functions.ts";

type Binaryen = typeof binaryenPackage;

export class Instrumenter {
  readonly #binaryen: Binaryen;

  private constructor(binaryen: Binaryen) {
    this.#binaryen = binaryen;
  }

  /** `kept` gives the module of these bytes, if its machine code was kept. */
  static async load(kept: KnownModules = () => undefined): Promise<Instrumenter> {
    return new Instrumenter((await withWasmInvokes(() => import("binaryen"), kept)).default);
  }

  instrument({ module: bytes, finish }: InstrumentRequest): Reply {
    const binaryen = this.#binaryen;
    const debug = finish.names ? debugInformation(bytes, finish.checksNull) : undefined;
    const module = binaryen.readBinary(withoutDebugSections(bytes));
    module.setFeatures(featuresOf(binaryen));
    binaryen.setOptimizeLevel(2);
    binaryen.setShrinkLevel(0);
    binaryen.setDebugInfo(finish.names);
    binaryen.clearPassArguments();
    if (debug !== undefined) placeLines(binaryen, module, debug);
    adaptSignatures(binaryen, module);
    const canUnwind = finish.capturePoints.length > 0;
    // Binaryen has no way to say "none"; a name that no import has instruments nothing.
    binaryen.setPassArgument("asyncify-imports", canUnwind ? finish.capturePoints.join(",") : "nothing.at_all");
    if (!canUnwind) binaryen.setPassArgument("asyncify-ignore-indirect", "");
    const steady = steadyFunctions(finish.libraryNames, functionNames(binaryen, module));
    if (steady.length > 0) binaryen.setPassArgument("asyncify-removelist", steady.join(","));
    module.runPasses(["asyncify"]);
    if (!canUnwind) refuseToUnwind(binaryen, module);
    const valid = module.validate();
    const emitted = debug === undefined ? module.emitBinary() : withSourceMap(module, finish.sourceRoot);
    module.dispose();
    const output = Buffer.concat([emitted, customSection("banyan", Buffer.from(finish.section))]);
    if (!valid || !WebAssembly.validate(output))
      return { kind: "broken", message: "Cannot instrument the program: what came out is no valid WebAssembly" };
    return { kind: "done", code: 0, output, stderr: new Uint8Array() };
  }
}

/**
 * Functions that do not unwind would go on as if the call had succeeded: an import that asks for unwinding gets a trap, whose
 * stack trace says why.
 */
function refuseToUnwind(binaryen: Binaryen, module: binaryenPackage.Module): void {
  const why = "linked_with_no_capture";
  module.addFunction(why, binaryen.i32, binaryen.none, [], module.unreachable());
  module.removeExport("asyncify_start_unwind");
  module.addFunctionExport(why, "asyncify_start_unwind");
}

/** The section in which engines and debuggers look for lines. */
const sourceMapSection = "sourceMappingURL";

/** The module, with its source map inside: offsets of the module are columns of one line. Debuggers read the sources from where they were compiled. */
function withSourceMap(module: binaryenPackage.Module, folder: string): Uint8Array {
  const { binary, sourceMap } = module.emitBinary("inside");
  const sourceRoot = folder === "" ? "" : `${pathToFileURL(folder).href}/`;
  const map = JSON.stringify({ ...JSON.parse(sourceMap ?? "{}"), sourceRoot });
  const url = Buffer.from(`data:application/json;base64,${Buffer.from(map).toString("base64")}`);
  const section = customSection(sourceMapSection, Buffer.concat([leb128(url.length), url]));
  return Buffer.concat([withoutSections(binary, new RegExp(`^${sourceMapSection}$`)), section]);
}

/** Not all features: with all of them Binaryen writes encodings that Node 20 cannot read. Not relaxed-simd: see options. */
function featuresOf({ Features }: Binaryen): number {
  return (
    Features.MutableGlobals |
    Features.NontrappingFPToInt |
    Features.SIMD128 |
    Features.BulkMemory |
    Features.BulkMemoryOpt |
    Features.SignExt |
    Features.ReferenceTypes |
    Features.Multivalue |
    Features.ExceptionHandling |
    Features.Atomics
  );
}

/** A section of a WebAssembly module that engines skip: id 0, length, name, contents. */
function customSection(name: string, contents: Uint8Array): Uint8Array {
  const nameBytes = Buffer.from(name);
  const body = Buffer.concat([leb128(nameBytes.length), nameBytes, contents]);
  return Buffer.concat([Buffer.of(0), leb128(body.length), body]);
}

function leb128(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.of(...bytes, rest);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
