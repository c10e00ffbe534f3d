/**
 * The view of a file (MPI 5.0 §14.3): which of its bytes a process sees. Copies of the file type, side by side from the
 * displacement on; the bytes of their data, in order, are the stream that a program reads and writes, counted in etypes.
 */
import type { Datatype } from "../../core/comm/datatype/datatype.ts";
import { forEachPiece, type Visit } from "../../core/comm/datatype/pieces.ts";

/** How elements lie in the file. "internal" may be anything that we can read again. */
export const representations = ["native", "internal", "external32"] as const;
export type Representation = (typeof representations)[number];

/** Plain data but for the datatypes, which never change. */
export interface View {
  readonly displacement: number;
  readonly etype: Datatype;
  readonly filetype: Datatype;
  readonly representation: Representation;
}

/** Where bytes `from` up to `to` of the stream lie in the file, in the order of the stream. False: `visit` had enough. */
export function piecesOf({ displacement, filetype }: View, from: number, to: number, visit: Visit): boolean {
  return forEachPiece(filetype.layout, filetype.extent, displacement, from, to, visit);
}

/** Where in the file the etype with that number begins. Behind a file type without data there is nothing but its beginning. */
export function byteOfEtype(view: View, etypes: number): number {
  if (view.filetype.size === 0) return view.displacement;
  const from = etypes * view.etype.size;
  let position = view.displacement;
  piecesOf(view, from, from + 1, (at) => {
    position = at;
    return false;
  });
  return position;
}

/** How many bytes of the stream lie before that byte of the file. The pieces of a file type ascend (§14.3). */
export function streamBytesBefore(view: View, position: number): number {
  const { displacement, filetype } = view;
  const { size, extent, trueLb, trueUb } = filetype;
  if (size === 0 || position <= displacement) return 0;
  const inside = position - displacement;
  // Copies that are before it altogether; those of a type without extent lie upon each other.
  const whole = extent > 0 ? Math.max(0, Math.floor((inside - trueUb) / extent) + 1) : 0;
  let bytes = whole * size;
  for (let copy = whole; extent > 0 ? copy * extent + trueLb < inside : copy === 0; copy++) {
    piecesOf(view, copy * size, (copy + 1) * size, (at, length) => {
      bytes += Math.min(length, Math.max(0, position - at));
      return at + length < position;
    });
  }
  return bytes;
}

/** The first etype that does not lie, not even in part, before that byte of the file: where a file of that length ends. */
export function etypesBefore(view: View, position: number): number {
  return Math.ceil(streamBytesBefore(view, position) / view.etype.size);
}
