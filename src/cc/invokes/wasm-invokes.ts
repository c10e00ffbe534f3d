/**
 * Binaryen is compiled so that every call that may throw goes through JavaScript: `invoke_vi(index, a)` keeps the stack pointer, calls
 * a function of the table in `try`, and notes down an exception. The smallest program has three million such calls, 0.15 µs each, which
 * is most of what Binaryen takes. WebAssembly can catch such exceptions too, so the calls need not leave it: here the `invoke_…`
 * functions are replaced by ones of two small modules (`invoke-modules.ts`) while the package is loaded.
 *
 * Exceptions themselves are rare (a hundred), and remain JavaScript's business: functions that throw are watched, and the caught
 * exception is thrown once more inside one of the replaced functions, which does with it what it always did. A package that does not
 * look like this is left alone.
 */

import { catchingModule, type InvokeSignature, relayModule } from "./invoke-modules.ts";
import { outlineOf } from "./module-outline.ts";

type Imports = Record<string, Record<string, unknown>>;
type Exports = WebAssembly.Instance["exports"];
interface Instantiated {
  readonly module: WebAssembly.Module;
  readonly instance: WebAssembly.Instance;
}
/** Of a module that is not compiled yet, or of one that is. */
interface Instantiate {
  (bytes: Uint8Array, imports: Imports): Promise<Instantiated>;
  (module: WebAssembly.Module, imports: Imports): Promise<WebAssembly.Instance>;
}
type AnyFunction = (...args: readonly unknown[]) => unknown;

/** Its text, as Emscripten writes and shortens it: `function f(i,a){var s=save();try{return entry(i)(a)}catch(…`. */
const invokeText = /^function [\w$]+\(([\w$]+)[\w$,]*\)\{var [\w$]+=[\w$]+\(\);try\{(return )?[\w$]+\(\1\)\(/;
/** The bodies of the functions that read and set the stack pointer: `global.get`, and `local.get 0`, `global.set`. */
const saveBody = /^0023(..)0b$/;
const restoreBody = /^00200024(..)0b$/;
/** No entry of a table. */
const again = -1;

/** The module of these bytes, if somebody has it. */
export type KnownModules = (bytes: Uint8Array) => WebAssembly.Module | undefined;

/** Loads a package that instantiates its module when it is imported. */
export async function withWasmInvokes<Package>(
  load: () => Promise<Package>,
  known: KnownModules = () => undefined,
): Promise<Package> {
  const engine = WebAssembly as unknown as { instantiate: Instantiate };
  const instantiate = engine.instantiate;
  const bridged = async (bytes: Uint8Array, imports: Imports): Promise<Instantiated> => {
    const bridge = bridgeFor(bytes, imports);
    const { imports: given = imports } = bridge ?? {};
    const module = known(bytes);
    const made = module === undefined ? await instantiate(bytes, given) : instanceOf(module, given);
    bridge?.join(made.instance.exports);
    return made;
  };
  // Others may come by meanwhile: Node itself instantiates a parser for HTTP, compiled by then, some time after `fetch` was first looked at.
  engine.instantiate = ((source: Uint8Array | WebAssembly.Module, imports: Imports) =>
    source instanceof WebAssembly.Module ? instantiate(source, imports) : bridged(source, imports)) as Instantiate;
  try {
    return await load();
  } finally {
    engine.instantiate = instantiate;
  }
}

function instanceOf(module: WebAssembly.Module, imports: Imports): Instantiated {
  return { module, instance: new WebAssembly.Instance(module, imports as WebAssembly.Imports) };
}

interface Bridge {
  readonly imports: Imports;
  /** Connects the functions with the module that they were given to. */
  join(exports: Exports): void;
}

/** Undefined: the module's calls stay as they are. */
export function bridgeFor(bytes: Uint8Array, imports: Imports): Bridge | undefined {
  const outline = outlineOf(bytes);
  const pointer = outline === undefined ? undefined : stackPointer(outline.exports);
  if (outline?.table === undefined || pointer === undefined) return undefined;
  const invokes = functionsOf(imports).filter(({ call }) => invokeText.test(String(call)));
  const signatures = invokes.map(({ key }) => outline.imports.get(key));
  if (invokes.length === 0 || !signatures.every(isInvoke)) return undefined;
  const plain = invokes.find((_, at) => signatures[at]?.params.length === 1 && signatures[at].results.length === 0);
  const [relayBytes, catchingBytes] = [relayModule(signatures), catchingModule(signatures)];
  // Exceptions are a part of WebAssembly that an engine may lack.
  if (plain === undefined || !WebAssembly.validate(catchingBytes)) return undefined;

  const relay = new WebAssembly.Instance(new WebAssembly.Module(relayBytes));
  const relayed = new Map(invokes.map(({ key }, at) => [key, relay.exports[`${at}`] as AnyFunction]));
  const exceptions = new Exceptions();
  const { table: name } = outline;
  return {
    imports: mapFunctions(imports, (key, call) => relayed.get(key) ?? exceptions.watch(call)),
    join(exports) {
      const table = exports[name] as WebAssembly.Table;
      const settle = exceptions.settler(table, plain.call);
      const large = { table, settle, save: exports[pointer.save]!, restore: exports[pointer.restore]! };
      const catching = new WebAssembly.Instance(new WebAssembly.Module(catchingBytes), { large });
      const entries = relay.exports["table"] as WebAssembly.Table;
      for (const at of signatures.keys()) entries.set(at, catching.exports[`${at}`] as AnyFunction);
    },
  };
}

/** Knows the exception that is on its way: WebAssembly catches it without being told what it is. */
class Exceptions {
  #thrown: unknown;

  watch(call: AnyFunction): AnyFunction {
    return (...args) => {
      try {
        return call(...args);
      } catch (error) {
        this.#thrown = error;
        throw error;
      }
    };
  }

  /** The function that is asked about a caught exception. `plain` is a replaced function, which calls an entry of the table. */
  settler(table: WebAssembly.Table, plain: AnyFunction): () => number {
    let next: unknown;
    const throwNext = (): never => {
      throw next;
    };
    const entry = table.get.bind(table);
    table.get = (index) => (index === again ? throwNext : entry(index));
    return () => {
      if (this.#thrown === undefined) return 0;
      next = this.#thrown;
      this.#thrown = undefined;
      plain(again);
      return 1;
    };
  }
}

/** The names of the exported functions that read and set one global alone. */
function stackPointer(exports: ReadonlyMap<string, Uint8Array>): { save: string; restore: string } | undefined {
  const small = [...exports].filter(([, body]) => body.length < 8);
  const texts = small.map(([name, body]) => ({ name, hex: Buffer.from(body).toString("hex") }));
  for (const { name: save, hex } of texts) {
    const global = saveBody.exec(hex)?.[1];
    if (global === undefined) continue;
    const restore = texts.find((each) => restoreBody.exec(each.hex)?.[1] === global);
    if (restore !== undefined) return { save, restore: restore.name };
  }
  return undefined;
}

function functionsOf(imports: Imports): { key: string; call: AnyFunction }[] {
  const found: { key: string; call: AnyFunction }[] = [];
  mapFunctions(imports, (key, call) => {
    found.push({ key, call });
    return call;
  });
  return found;
}

/** Imports with other functions; a key is `module.name`. */
function mapFunctions(imports: Imports, change: (key: string, call: AnyFunction) => AnyFunction): Imports {
  const changed = (module: string, members: Imports[string]): Imports[string] =>
    Object.fromEntries(
      Object.entries(members).map(([name, member]) => [
        name,
        typeof member === "function" ? change(`${module}.${name}`, member as AnyFunction) : member,
      ]),
    );
  return Object.fromEntries(Object.entries(imports).map(([module, members]) => [module, changed(module, members)]));
}

function isInvoke(signature: InvokeSignature | undefined): signature is InvokeSignature {
  return signature !== undefined && signature.params[0] === 0x7f && signature.results.length <= 1;
}
