/**
 * The loop of every kernel whose elements are numbers of a typed array, written once, as text: it is compiled for each body and each
 * kind of array that a program uses. Loops that shared their compiled code would see every kind of typed array, which V8 gives up
 * to specialise after the fourth: 30 times slower.
 *
 * A body is one statement or several about one item, at a[x + i] on the left, b[y + i] on the right and c[z + i] in the result. The result may be
 * one of the operands, so a body of several statements reads all words of its item before it writes the first.
 */
import type { Kernel } from "../datatype/views.ts";

/** The fields of `Views` whose elements are numbers, and the logarithm of their bytes. */
const log2Bytes = { int8: 0, uint8: 0, int16: 1, uint16: 1, int32: 2, uint32: 2, float32: 2, float64: 3 } as const;
export type NumberArray = keyof typeof log2Bytes;

/** `words`: elements of the array that make an item. Bodies are constants of this folder, never text from outside. */
export function kernelLoop(array: NumberArray, body: string, words = 1): Kernel {
  const shift = log2Bytes[array];
  const loop = `
    const a = left.${array};
    const b = right.${array};
    const c = into.${array};
    const x = leftAt >>> ${shift};
    const y = rightAt >>> ${shift};
    const z = intoAt >>> ${shift};
    for (let i = 0; i < count * ${words}; i += ${words}) { ${body} }`;
  return new Function("left", "leftAt", "right", "rightAt", "into", "intoAt", "count", loop) as Kernel;
}
