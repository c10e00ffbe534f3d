/**
 * Which algorithm runs. A question holds only what is equal on all ranks of a communicator (there is no rank in it, nor
 * whether a rank passed IN_PLACE), so all ranks choose alike. Whether the operation is commutative is not asked: every
 * reduction keeps the canonical order, and gives the same bits whichever is chosen.
 *
 * A replay must choose as the first life did: a change of a threshold is a numbered flag of the log.
 */
import { isHierarchy, type MemberNodes } from "./intra/node-layout.ts";

/** A broadcast from this length on is scattered and gathered: the tree's log2 p copies cost more than the ring's latency. */
export const bcastLongBytes = 128 * 1024;
/** With fewer ranks a scatter has too little to spread. */
const bcastLongRanksMin = 4;
/** An allgather with a longer result goes round the ring. */
export const allgatherShortBytesMax = 64 * 1024;
/** A hierarchical allgather copies the result once more in each node: only worth it while messages cost more than bytes. */
export const allgatherHierarchicalBytesMax = 1024 * 1024;
/** Blocks of an all-to-all up to this length are forwarded by others, to save messages. */
export const alltoallShortBytesMax = 256;
/** With fewer ranks direct messages are as few. */
const alltoallShortRanksMin = 8;
/** A reduction of longer vectors is split among the ranks. */
export const reduceShortBytesMax = 32 * 1024;
export const allreduceShortBytesMax = 16 * 1024;
/** Between nodes messages cost more, so the leaders keep longer vectors whole. */
export const allreduceHierarchicalBytesMax = 64 * 1024;
/** A reduce-scatter of longer vectors avoids the folded pairs of halving, when there are any. */
export const reduceScatterShortBytesMax = 256 * 1024;

interface Question {
  readonly size: number;
  readonly bytes: number;
  readonly nodes?: MemberNodes | undefined;
}

interface VectorQuestion extends Question {
  readonly elementBytes: number;
}

const isPowerOfTwo = (size: number): boolean => (size & (size - 1)) === 0;

export const chooseBarrier = ({ nodes }: Pick<Question, "nodes">): "dissemination" | "hierarchical" =>
  isHierarchy(nodes) ? "hierarchical" : "dissemination";

type FlatBcastName = "binomial" | "scatter-allgather";

export const chooseFlatBcast = ({ size, bytes }: Pick<Question, "size" | "bytes">): FlatBcastName =>
  bytes >= bcastLongBytes && size >= bcastLongRanksMin ? "scatter-allgather" : "binomial";

export const chooseBcast = (question: Question): FlatBcastName | "hierarchical" =>
  isHierarchy(question.nodes) ? "hierarchical" : chooseFlatBcast(question);

/** `bytes` is the length of the result, all blocks together. */
export function chooseAllgather({
  size,
  bytes,
  nodes,
}: Question): "recursive-doubling" | "bruck" | "ring" | "hierarchical" {
  if (isHierarchy(nodes) && bytes <= allgatherHierarchicalBytesMax) return "hierarchical";
  if (bytes > allgatherShortBytesMax) return "ring";
  return isPowerOfTwo(size) ? "recursive-doubling" : "bruck";
}

/** `bytes` is the length of the result. */
export const chooseAllgatherv = ({ bytes, nodes }: Question): "ring" | "hierarchical" =>
  isHierarchy(nodes) && bytes <= allgatherHierarchicalBytesMax ? "hierarchical" : "ring";

/** `bytes` is the length of one block. */
export const chooseAlltoall = ({ size, bytes }: Question): "bruck" | "pairwise" =>
  bytes <= alltoallShortBytesMax && size >= alltoallShortRanksMin ? "bruck" : "pairwise";

/** Splitting pays when every rank gets something. */
const canBeSplit = ({ size, bytes, elementBytes }: VectorQuestion): boolean => bytes / elementBytes >= size;

export function chooseReduce(question: VectorQuestion): "tree" | "hierarchical" | "rabenseifner" {
  if (question.bytes > reduceShortBytesMax && canBeSplit(question)) return "rabenseifner";
  return isHierarchy(question.nodes) ? "hierarchical" : "tree";
}

export function chooseAllreduce(question: VectorQuestion): "recursive-doubling" | "rabenseifner" | "hierarchical" {
  if (isHierarchy(question.nodes) && question.bytes <= allreduceHierarchicalBytesMax) return "hierarchical";
  if (question.bytes > allreduceShortBytesMax && canBeSplit(question)) return "rabenseifner";
  return "recursive-doubling";
}

/** `bytes` is the length of the input, all segments together. */
export const chooseReduceScatter = ({ size, bytes }: Question): "halving" | "pairwise" =>
  bytes > reduceScatterShortBytesMax && !isPowerOfTwo(size) ? "pairwise" : "halving";
