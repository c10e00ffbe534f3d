/** What a module says about itself that engines do not tell: the types of imported functions, the bodies of exported ones. */
import { WasmReader } from "../wasm-reader.ts";
import type { InvokeSignature } from "./invoke-modules.ts";

interface ModuleOutline {
  /** By `module.name`. */
  readonly imports: ReadonlyMap<string, InvokeSignature>;
  /** The bytes of the body of each exported function, with its locals, by name. */
  readonly exports: ReadonlyMap<string, Uint8Array>;
  /** The name under which the module exports a table, if it does. */
  readonly table: string | undefined;
}

const sectionId = { types: 1, imports: 2, exports: 7, code: 10 } as const;
const kind = { func: 0, table: 1 } as const;

/** Undefined: this is no module of the kind that we know. */
export function outlineOf(module: Uint8Array): ModuleOutline | undefined {
  const types: InvokeSignature[] = [];
  const imports = new Map<string, InvokeSignature>();
  const exported: [name: string, index: number][] = [];
  const exports = new Map<string, Uint8Array>();
  let table: string | undefined;
  const sections = new WasmReader(module, 8);
  while (!sections.atEnd) {
    const id = sections.byte();
    const bytes = sections.number();
    const reader = new WasmReader(module, sections.at);
    sections.at += bytes;
    if (id === sectionId.types) {
      for (let count = reader.number(); count > 0; count--) {
        if (reader.byte() !== 0x60) return undefined;
        types.push({ params: bytesOf(reader), results: bytesOf(reader) });
      }
    } else if (id === sectionId.imports) {
      for (let count = reader.number(); count > 0; count--) {
        const name = `${reader.text()}.${reader.text()}`;
        // Other kinds would have to be skipped by their form; the modules that this is for import functions alone.
        if (reader.byte() !== kind.func) return undefined;
        imports.set(name, types[reader.number()] ?? { params: [], results: [] });
      }
    } else if (id === sectionId.exports) {
      for (let count = reader.number(); count > 0; count--) {
        const name = reader.text();
        const what = reader.byte();
        const index = reader.number();
        if (what === kind.func) exported.push([name, index - imports.size]);
        if (what === kind.table) table = name;
      }
    } else if (id === sectionId.code) {
      const bodies: Uint8Array[] = [];
      for (let count = reader.number(); count > 0; count--) {
        const length = reader.number();
        bodies.push(module.subarray(reader.at, reader.at + length));
        reader.at += length;
      }
      for (const [name, index] of exported) exports.set(name, bodies[index] ?? new Uint8Array());
    }
  }
  return { imports, exports, table };
}

function bytesOf(reader: WasmReader): number[] {
  return Array.from({ length: reader.number() }, () => reader.byte());
}
