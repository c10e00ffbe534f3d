/**
 * The description of a datatype without its name and history: bytes, elements, bounds. The whole algebra of the constructors is
 * three functions: join several shapes, repeat one, move one.
 *
 * Bounds follow MPI 5.0 §5.1.6: markers (of `resized`, `subarray`, `darray` and the old MPI_LB and MPI_UB) win over
 * data; without a marker the upper bound is padded so that the extent is a multiple of the strictest alignment.
 */
import { emptyLayout, type Layout, layoutsInSequence, repeat, shift } from "./layout.ts";
import { emptySignature, joinSignatures, repeatSignature, type Signature } from "./signature.ts";

export interface TypeShape {
  readonly layout: Layout;
  readonly signature: Signature;
  /** Lower and upper bound set by the program, or undefined. */
  readonly lowMarker: number | undefined;
  readonly highMarker: number | undefined;
  /** The strictest alignment among the elements. */
  readonly alignment: number;
}

export const emptyShape: TypeShape = {
  layout: emptyLayout,
  signature: emptySignature,
  lowMarker: undefined,
  highMarker: undefined,
  alignment: 1,
};

export function repeatShape(shape: TypeShape, count: number, stride: number): TypeShape {
  if (count === 0) return emptyShape;
  if (count === 1) return shape;
  const span = (count - 1) * stride;
  return {
    layout: repeat(shape.layout, count, stride),
    signature: repeatSignature(shape.signature, count),
    lowMarker: shape.lowMarker === undefined ? undefined : shape.lowMarker + Math.min(0, span),
    highMarker: shape.highMarker === undefined ? undefined : shape.highMarker + Math.max(0, span),
    alignment: shape.alignment,
  };
}

export function shiftShape(shape: TypeShape, by: number): TypeShape {
  if (by === 0) return shape;
  return {
    ...shape,
    layout: shift(shape.layout, by),
    lowMarker: shape.lowMarker === undefined ? undefined : shape.lowMarker + by,
    highMarker: shape.highMarker === undefined ? undefined : shape.highMarker + by,
  };
}

export function joinShapes(shapes: readonly TypeShape[]): TypeShape {
  let [lowMarker, highMarker, alignment]: [number | undefined, number | undefined, number] = [undefined, undefined, 1];
  for (const shape of shapes) {
    if (shape.lowMarker !== undefined) lowMarker = Math.min(lowMarker ?? shape.lowMarker, shape.lowMarker);
    if (shape.highMarker !== undefined) highMarker = Math.max(highMarker ?? shape.highMarker, shape.highMarker);
    alignment = Math.max(alignment, shape.alignment);
  }
  return {
    layout: layoutsInSequence(shapes.map((shape) => shape.layout)),
    signature: joinSignatures(shapes.map((shape) => shape.signature)),
    lowMarker,
    highMarker,
    alignment,
  };
}

/** The shape between bounds set by the program; earlier markers are dropped. */
export function boundShape(shape: TypeShape, low: number, high: number): TypeShape {
  return { ...shape, lowMarker: low, highMarker: high };
}

interface TypeBounds {
  readonly lb: number;
  readonly ub: number;
}

export function boundsOf({ layout, lowMarker, highMarker, alignment }: TypeShape): TypeBounds {
  const lb = lowMarker ?? layout.low;
  if (highMarker !== undefined) return { lb, ub: highMarker };
  const extent = layout.high - lb;
  return { lb, ub: lb + Math.ceil(extent / alignment) * alignment };
}
