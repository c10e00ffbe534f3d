/** Writes the parts of a WebAssembly module, as lists of bytes. */

export const wasmHead = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0] as const;

/** LEB128, without a sign. */
export function wasmNumber(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...wasmNumber(Math.floor(value / 0x80))];
}

export function wasmName(text: string): number[] {
  return sized([...Buffer.from(text)]);
}

export function wasmVector(items: readonly (readonly number[])[]): number[] {
  return [...wasmNumber(items.length), ...items.flat()];
}

export function wasmSection(id: number, contents: readonly number[]): number[] {
  return [id, ...sized(contents)];
}

/** The body of a function with one group of locals for each type given. */
export function bodyBytes(locals: readonly number[], instructions: readonly number[]): number[] {
  return sized([...wasmVector(locals.map((type) => [1, type])), ...instructions]);
}

function sized(bytes: readonly number[]): number[] {
  return [...wasmNumber(bytes.length), ...bytes];
}
