/** The parts of a linked module that debug information is about: bodies of functions, and sections that engines skip. */
import { WasmReader } from "../wasm-reader.ts";

const sectionId = { CUSTOM: 0, CODE: 10 } as const;

interface Section {
  readonly id: number;
  /** Of a custom section. */
  readonly name: string;
  /** Of the section with its head, of its contents behind the name, and of its end. */
  readonly from: number;
  readonly contents: number;
  readonly to: number;
}

export interface ModuleParts {
  readonly module: Uint8Array;
  /** Where the contents of the code section begin: debug information counts from there. */
  readonly codeFrom: number;
  /** From and to of the body of each function that is no import. */
  readonly bodies: readonly (readonly [from: number, to: number])[];
  readonly custom: ReadonlyMap<string, Uint8Array>;
}

export function partsOf(module: Uint8Array): ModuleParts {
  const bodies: [number, number][] = [];
  const custom = new Map<string, Uint8Array>();
  let codeFrom = 0;
  for (const { id, name, contents, to } of sectionsOf(module)) {
    if (id === sectionId.CUSTOM) custom.set(name, module.subarray(contents, to));
    if (id !== sectionId.CODE) continue;
    codeFrom = contents;
    const reader = new WasmReader(module, contents);
    for (let count = reader.number(); count > 0; count--) {
      const bytes = reader.number();
      bodies.push([reader.at, reader.at + bytes]);
      reader.at += bytes;
    }
  }
  return { module, codeFrom, bodies, custom };
}

/** The module without the custom sections whose names are matched. They stand behind the code, whose offsets stay. */
export function withoutSections(module: Uint8Array, names: RegExp): Uint8Array {
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const section of sectionsOf(module)) {
    if (section.id !== sectionId.CUSTOM || !names.test(section.name)) continue;
    kept.push(module.subarray(from, section.from));
    from = section.to;
  }
  return from === 0 ? module : Buffer.concat([...kept, module.subarray(from)]);
}

function sectionsOf(module: Uint8Array): Section[] {
  const sections: Section[] = [];
  const reader = new WasmReader(module, 8);
  while (!reader.atEnd) {
    const from = reader.at;
    const id = reader.byte();
    const bytes = reader.number();
    const to = reader.at + bytes;
    const name = id === sectionId.CUSTOM ? reader.text() : "";
    sections.push({ id, name, from, contents: reader.at, to });
    reader.at = to;
  }
  return sections;
}
