/**
 * Places in the code to places in the sources: DWARF's line programs (section `.debug_line`, versions 2 to 5, chapter 6.2 of the
 * DWARF 5 standard), as clang writes and wasm-ld links them. Addresses count from the contents of the code section.
 */
import { WasmReader } from "../wasm-reader.ts";

export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** From its address on to the next row the code is of this place; null: of no place. */
interface Row {
  readonly address: number;
  readonly place: SourcePlace | null;
}

export class LineTable {
  readonly #rows: readonly Row[];

  /** `rows` ascend. */
  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  at(address: number): SourcePlace | null {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#rows[middle]!.address <= address) low = middle + 1;
      else high = middle;
    }
    return this.#rows[low - 1]?.place ?? null;
  }
}

type Custom = ReadonlyMap<string, Uint8Array>;

export function readLineTable(custom: Custom): LineTable {
  const section = custom.get(".debug_line");
  if (section === undefined) return new LineTable([]);
  const sequences: Row[][] = [];
  const reader = new WasmReader(section);
  while (!reader.atEnd) {
    const bytes = reader.fixed(4);
    const next = reader.at + bytes;
    const program = readHeader(reader, custom);
    if (program !== undefined) sequences.push(...runProgram(reader, program, next));
    reader.at = next;
  }
  sequences.sort((a, b) => a[0]!.address - b[0]!.address);
  return new LineTable(sequences.flat());
}

interface LineProgram {
  readonly instructionBytesMin: number;
  readonly lineBase: number;
  readonly lineRange: number;
  readonly opcodeBase: number;
  readonly operands: readonly number[];
  readonly files: readonly string[];
  /** Number of the first file. */
  readonly fileBase: number;
}

/** Leaves the reader at the program; undefined: a version that is not known. */
function readHeader(reader: WasmReader, custom: Custom): LineProgram | undefined {
  const version = reader.fixed(2);
  if (version < 2 || version > 5) return undefined;
  if (version >= 5) reader.fixed(2);
  const headerBytes = reader.fixed(4);
  const start = reader.at + headerBytes;
  const instructionBytesMin = reader.byte();
  if (version >= 4) reader.byte();
  reader.byte();
  const lineBase = (reader.byte() << 24) >> 24;
  const lineRange = reader.byte();
  const opcodeBase = reader.byte();
  const operands = Array.from({ length: opcodeBase - 1 }, () => reader.byte());
  const files = version >= 5 ? filesOfVersion5(reader, custom) : filesOfVersion4(reader);
  reader.at = start;
  const fileBase = version >= 5 ? 0 : 1;
  return { instructionBytesMin, lineBase, lineRange, opcodeBase, operands, files, fileBase };
}

function filesOfVersion4(reader: WasmReader): string[] {
  const folders = [""];
  for (let folder = reader.zeroEnded(); folder !== ""; folder = reader.zeroEnded()) folders.push(folder);
  const files: string[] = [];
  for (let name = reader.zeroEnded(); name !== ""; name = reader.zeroEnded()) {
    files.push(joined(folders[reader.number()] ?? "", name));
    reader.number();
    reader.number();
  }
  return files;
}

const content = { PATH: 1, FOLDER: 2 } as const;

function filesOfVersion5(reader: WasmReader, custom: Custom): string[] {
  const folders = readEntries(reader, custom).map(({ path }) => path);
  return readEntries(reader, custom).map(({ path, folder }) =>
    joined(joined(folders[0] ?? "", folders[folder] ?? ""), path),
  );
}

interface Entry {
  path: string;
  folder: number;
}

function readEntries(reader: WasmReader, custom: Custom): Entry[] {
  const formats = Array.from({ length: reader.byte() }, () => [reader.number(), reader.number()] as const);
  return Array.from({ length: reader.number() }, () => {
    const entry: Entry = { path: "", folder: 0 };
    for (const [type, form] of formats) {
      const value = readForm(reader, form, custom);
      if (type === content.PATH) entry.path = String(value);
      if (type === content.FOLDER) entry.folder = Number(value);
    }
    return entry;
  });
}

/** The forms that a table of files may have. */
function readForm(reader: WasmReader, form: number, custom: Custom): string | number {
  switch (form) {
    case 0x08: // string
      return reader.zeroEnded();
    case 0x0e: // strp
      return new WasmReader(custom.get(".debug_str") ?? new Uint8Array(), reader.fixed(4)).zeroEnded();
    case 0x1f: // line_strp
      return new WasmReader(custom.get(".debug_line_str") ?? new Uint8Array(), reader.fixed(4)).zeroEnded();
    case 0x0b: // data1
      return reader.byte();
    case 0x05: // data2
      return reader.fixed(2);
    case 0x06: // data4
      return reader.fixed(4);
    case 0x07: // data8
      return reader.fixed(8);
    case 0x1e: // data16
      return reader.fixed(16);
    default: // udata
      return reader.number();
  }
}

const joined = (folder: string, name: string): string =>
  folder === "" || name.startsWith("/") ? name : `${folder}/${name}`;

const opcode = {
  COPY: 1,
  ADVANCE_PC: 2,
  ADVANCE_LINE: 3,
  SET_FILE: 4,
  SET_COLUMN: 5,
  CONST_ADD_PC: 8,
  FIXED_ADVANCE_PC: 9,
} as const;
const extended = { END_SEQUENCE: 1, SET_ADDRESS: 2 } as const;

/** The sequences of rows that a program makes; those of code that the linker has left out begin at 0 or far outside. */
function runProgram(reader: WasmReader, program: LineProgram, end: number): Row[][] {
  const { instructionBytesMin, lineBase, lineRange, opcodeBase, operands, files, fileBase } = program;
  const sequences: Row[][] = [];
  let rows: Row[] = [];
  let [address, file, line, column] = [0, 1, 1, 0];
  const add = (): void => {
    // Line 0: the compiler's own code, which belongs to what stands before it.
    if (line === 0 && rows.length > 0) return;
    const name = files[file - fileBase] ?? "";
    rows.push({ address, place: line === 0 || name === "" ? null : { file: name, line, column } });
  };
  const finish = (): void => {
    rows.push({ address, place: null });
    const from = rows[0]!.address;
    if (from > 0 && from < 0xffff_fff0) sequences.push(rows);
    rows = [];
    [address, file, line, column] = [0, 1, 1, 0];
  };
  while (reader.at < end) {
    const code = reader.byte();
    if (code >= opcodeBase) {
      const adjusted = code - opcodeBase;
      address += Math.floor(adjusted / lineRange) * instructionBytesMin;
      line += lineBase + (adjusted % lineRange);
      add();
      continue;
    }
    switch (code) {
      case 0: {
        const bytes = reader.number();
        const next = reader.at + bytes;
        const kind = reader.byte();
        if (kind === extended.END_SEQUENCE) finish();
        if (kind === extended.SET_ADDRESS) address = reader.fixed(bytes - 1);
        reader.at = next;
        break;
      }
      case opcode.COPY:
        add();
        break;
      case opcode.ADVANCE_PC:
        address += reader.number() * instructionBytesMin;
        break;
      case opcode.ADVANCE_LINE:
        line += reader.signed();
        break;
      case opcode.SET_FILE:
        file = reader.number();
        break;
      case opcode.SET_COLUMN:
        column = reader.number();
        break;
      case opcode.CONST_ADD_PC:
        address += Math.floor((255 - opcodeBase) / lineRange) * instructionBytesMin;
        break;
      case opcode.FIXED_ADVANCE_PC:
        address += reader.fixed(2);
        break;
      default:
        for (let count = operands[code - 1] ?? 0; count > 0; count--) reader.number();
    }
  }
  return sequences;
}

/** Does the debug information name variables, or is there no more than lines (`-g1`)? */
export function namesVariables(custom: Custom): boolean {
  const tag = { FORMAL_PARAMETER: 0x05, VARIABLE: 0x34 } as const;
  const implicitConst = 0x21;
  const reader = new WasmReader(custom.get(".debug_abbrev") ?? new Uint8Array());
  while (!reader.atEnd) {
    if (reader.number() === 0) continue;
    const kind = reader.number();
    if (kind === tag.FORMAL_PARAMETER || kind === tag.VARIABLE) return true;
    reader.byte();
    for (;;) {
      const [attribute, form] = [reader.number(), reader.number()];
      if (form === implicitConst) reader.signed();
      if (attribute === 0 && form === 0) break;
    }
  }
  return false;
}
