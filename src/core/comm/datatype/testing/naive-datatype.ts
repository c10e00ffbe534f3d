/**
 * Datatypes in the standard's own words, for tests: a type map is a list of (element, displacement), with markers for bounds
 * that the program set, and every constructor copies the list. Slow, and easy to verify.
 */

import { ORDER_C, ORDER_FORTRAN } from "../../../base/constants.ts";
import fc from "../../../base/testing/properties.ts";
import type { Datatype } from "../datatype.ts";
import { subarray } from "../datatype-arrays.ts";
import {
  contiguous,
  dup,
  hindexed,
  hindexedBlock,
  hvector,
  indexed,
  indexedBlock,
  resized,
  struct,
  vector,
} from "../datatype-constructors.ts";
import { predefinedTypes } from "../datatype-predefined.ts";
import type { Element } from "../element.ts";

interface NaiveEntry {
  readonly element: Element | "lb" | "ub";
  readonly at: number;
}
interface Twin {
  readonly type: Datatype;
  readonly map: readonly NaiveEntry[];
}

export function naiveBounds(map: readonly NaiveEntry[]): { lb: number; ub: number } {
  const data = map.filter((entry) => typeof entry.element === "object");
  const marks = (mark: string): number[] => map.filter((entry) => entry.element === mark).map((entry) => entry.at);
  const bytesOf = (entry: NaiveEntry): number => (typeof entry.element === "object" ? entry.element.bytes : 0);
  const alignmentOf = (entry: NaiveEntry): number => (typeof entry.element === "object" ? entry.element.alignment : 1);
  const lows = marks("lb").length > 0 ? marks("lb") : data.map((entry) => entry.at);
  const lb = lows.length === 0 ? 0 : Math.min(...lows);
  if (marks("ub").length > 0) return { lb, ub: Math.max(...marks("ub")) };
  const high = data.length === 0 ? 0 : Math.max(...data.map((entry) => entry.at + bytesOf(entry)));
  let ub = high;
  while ((ub - lb) % Math.max(1, ...data.map(alignmentOf)) !== 0) ub++;
  return { lb, ub };
}

const extentOf = (map: readonly NaiveEntry[]): number => naiveBounds(map).ub - naiveBounds(map).lb;
const move = (map: readonly NaiveEntry[], by: number): NaiveEntry[] =>
  map.map(({ element, at }) => ({ element, at: at + by }));
const copies = (map: readonly NaiveEntry[], count: number, stride: number): NaiveEntry[] =>
  Array.from({ length: count }, (_, i) => move(map, i * stride)).flat();
const bound = (map: readonly NaiveEntry[], lb: number, ub: number): NaiveEntry[] => [
  { element: "lb", at: lb },
  { element: "ub", at: ub },
  ...map.filter((entry) => typeof entry.element === "object"),
];

/** Offsets from the origin of the first item, in packing order, of every byte of `count` items. */
export function naiveBytes(map: readonly NaiveEntry[], count: number): number[] {
  return copies(map, count, extentOf(map)).flatMap(({ element, at }) =>
    typeof element === "object" ? Array.from({ length: element.bytes }, (_, i) => at + i) : [],
  );
}

const basics = Object.values(predefinedTypes).filter((type) => type.elements.length === 1);
const basic: fc.Arbitrary<Twin> = fc
  .constantFrom(...basics)
  .map((type) => ({ type, map: [{ element: type.elements[0]!, at: 0 }] }));

/** Long enough to stay a repeat inside other types. */
const column: fc.Arbitrary<Twin> = fc.tuple(basic, fc.integer({ min: 65, max: 70 })).map(([{ type, map }, count]) => ({
  type: vector(type, { count, blocklength: 1, stride: 2 }),
  map: copies(map, count, 2 * extentOf(map)),
}));

const small = fc.integer({ min: 0, max: 3 });
const offset = fc.integer({ min: -6, max: 8 });
const bytes = fc.integer({ min: -40, max: 60 });
const blocks = fc.array(fc.tuple(small, offset, bytes), { maxLength: 4 });

/** Every constructor over `inner`; the new type and its type map. */
function made(inner: fc.Arbitrary<Twin>): fc.Arbitrary<Twin> {
  return fc.oneof(
    inner.map(({ type, map }) => ({ type: dup(type), map })),
    fc.tuple(inner, small).map(([{ type, map }, count]) => ({
      type: contiguous(count, type),
      map: copies(map, count, extentOf(map)),
    })),
    fc.tuple(inner, small, small, offset).map(([{ type, map }, count, blocklength, stride]) => ({
      type: vector(type, { count, blocklength, stride }),
      map: copies(copies(map, blocklength, extentOf(map)), count, stride * extentOf(map)),
    })),
    fc.tuple(inner, small, small, bytes).map(([{ type, map }, count, blocklength, stride]) => ({
      type: hvector(type, { count, blocklength, stride }),
      map: copies(copies(map, blocklength, extentOf(map)), count, stride),
    })),
    fc.tuple(inner, blocks).map(([{ type, map }, list]) => ({
      type: indexed(type, {
        blocklengths: list.map((block) => block[0]),
        displacements: list.map((block) => block[1]),
      }),
      map: list.flatMap(([count, at]) => move(copies(map, count, extentOf(map)), at * extentOf(map))),
    })),
    fc.tuple(inner, blocks).map(([{ type, map }, list]) => ({
      type: hindexed(type, {
        blocklengths: list.map((block) => block[0]),
        displacements: list.map((block) => block[2]),
      }),
      map: list.flatMap(([count, , at]) => move(copies(map, count, extentOf(map)), at)),
    })),
    fc.tuple(inner, small, blocks).map(([{ type, map }, blocklength, list]) => ({
      type: indexedBlock(type, { blocklength, displacements: list.map((block) => block[1]) }),
      map: list.flatMap(([, at]) => move(copies(map, blocklength, extentOf(map)), at * extentOf(map))),
    })),
    fc.tuple(inner, small, blocks).map(([{ type, map }, blocklength, list]) => ({
      type: hindexedBlock(type, { blocklength, displacements: list.map((block) => block[2]) }),
      map: list.flatMap(([, , at]) => move(copies(map, blocklength, extentOf(map)), at)),
    })),
    fc.array(fc.tuple(inner, small, bytes), { maxLength: 3 }).map((list) => ({
      type: struct({
        types: list.map(([{ type }]) => type),
        blocklengths: list.map((block) => block[1]),
        displacements: list.map((block) => block[2]),
      }),
      map: list.flatMap(([{ map }, count, at]) => move(copies(map, count, extentOf(map)), at)),
    })),
    fc.tuple(inner, bytes, bytes).map(([{ type, map }, lb, extent]) => ({
      type: resized(type, { lb, extent }),
      map: bound(map, lb, lb + extent),
    })),
    fc.tuple(inner, boxes, fc.constantFrom(ORDER_C, ORDER_FORTRAN)).map(([{ type, map }, box, order]) => ({
      type: subarray(type, {
        sizes: box.map((side) => side.size),
        subsizes: box.map((side) => side.subsize),
        starts: box.map((side) => side.start),
        order,
      }),
      map: naiveBox(map, box, order),
    })),
  );
}

interface Side {
  readonly size: number;
  readonly subsize: number;
  readonly start: number;
}
const boxes: fc.Arbitrary<Side[]> = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(2), fc.nat(2)).map(([subsize, start, more]) => ({
    size: subsize + start + more,
    subsize,
    start,
  })),
  { minLength: 1, maxLength: 3 },
);

function naiveBox(map: readonly NaiveEntry[], box: readonly Side[], order: number): NaiveEntry[] {
  const sides = order === ORDER_C ? box : [...box].reverse();
  const indices = sides.reduce<number[][]>(
    (lists, { subsize, start }) =>
      lists.flatMap((list) => Array.from({ length: subsize }, (_, i) => [...list, start + i])),
    [[]],
  );
  const flat = indices.map((list) => list.reduce((at, index, i) => at * sides[i]!.size + index, 0));
  const whole = sides.reduce((product, { size }) => product * size, 1);
  return bound(
    flat.flatMap((at) => move(map, at * extentOf(map))),
    0,
    whole * extentOf(map),
  );
}

/** Types of up to three constructors with their type maps, none so large that the naive form gets slow. */
export const twins: fc.Arbitrary<Twin> = [0, 1, 2].reduce<fc.Arbitrary<Twin>>(
  (inner) =>
    fc.oneof(
      { weight: 1, arbitrary: basic },
      { weight: 1, arbitrary: column },
      { weight: 6, arbitrary: made(inner).filter(({ map }) => map.length <= 300) },
    ),
  basic,
);
