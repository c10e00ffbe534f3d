/**
 * Shapes of the values that the parts of a protocol send each other through the runtime, which carries them without understanding them.
 * Each is checked where it crosses from one process to another; a wrong one ends the link to its sender, as every wrong message does.
 */
import { absent, type Shape } from "../base/value-shape.ts";

export interface ProtocolShapes {
  /** From the part for the job to that of a node, with its setup or a restart: `JobPart.forNode`. */
  readonly forNode: Shape<unknown>;
  /** The same at any other time: `JobPartPorts.toNode`. */
  readonly toNode: Shape<unknown>;
  /** From the part of a node to that for the job: `JobPart.nodeSaid`. */
  readonly fromNode: Shape<unknown>;
  /** From the part for the job to a rank that begins again: `Prepared`. */
  readonly forRanks: Shape<unknown>;
  /** From a rank to the part for the job: `JobPart.rankSaid`. */
  readonly fromRank: Shape<unknown>;
  /** From a rank, at its end: `Protocol.report`. */
  readonly report: Shape<unknown>;
}

/** Of a protocol whose parts say nothing to each other. */
export const noShapes: ProtocolShapes = {
  forNode: absent,
  toNode: absent,
  fromNode: absent,
  forRanks: absent,
  fromRank: absent,
  report: absent,
};
