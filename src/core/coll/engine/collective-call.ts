/**
 * What a rank has called, as far as all ranks of a communicator must have called the same: the kind, the root, and the length in
 * bytes. A rank that waits long compares its own call with those of the others (core/process/inquiries.ts).
 *
 * Roots and lengths that ranks may lawfully name differently are `unlike`: the counts of the v forms, which are a pair's own
 * business, and everything on an inter-communicator, whose two groups say different things.
 */
/** Names by code: a code is the index. Codes travel between ranks, which run the same version. */
const kinds = [
  "barrier",
  "bcast",
  "gather",
  "gatherv",
  "scatter",
  "scatterv",
  "allgather",
  "allgatherv",
  "alltoall",
  "alltoallv",
  "reduce",
  "allreduce",
  "reduce_scatter_block",
  "reduce_scatter",
  "scan",
  "exscan",
  "neighbor_allgatherv",
  "neighbor_alltoallv",
  // Those that make communicators, by the way they do it: several functions share one.
  "comm_dup",
  "comm_create",
  "comm_split",
  "intercomm_merge",
  "dist_graph_create",
  "file_open",
  "comm_spawn",
  "intercomm_create",
  // Only some members take part in this one: it takes no number.
  "comm_create_group",
] as const;
type KindName = (typeof kinds)[number];

export const kindCode = Object.fromEntries(kinds.map((name, code) => [name, code])) as Readonly<
  Record<KindName, number>
>;

/** In the place of a kind: the call was refused because of its arguments, and this rank took no part. */
export const refusedKind = -2;
/** The call is not known, or no longer. */
export const unknownKind = -1;

/** In the place of a root or a length that ranks need not agree on. */
export const unlike = -1;

/** Numbers only, because calls are told to other ranks. */
export interface CollectiveCall {
  /** A code, `refusedKind` or `unknownKind`. */
  readonly kind: number;
  readonly root: number;
  /** Of one block where blocks are equal, of all together where only they differ. */
  readonly bytes: number;
}

/** In which point two calls differ that must not; null: in none that is known. */
export function differenceOf(one: CollectiveCall, other: CollectiveCall): "kind" | "root" | "bytes" | null {
  if (one.kind === unknownKind || other.kind === unknownKind) return null;
  if (one.kind !== other.kind) return "kind";
  if (one.root !== other.root) return "root";
  return one.bytes === other.bytes ? null : "bytes";
}

/** Kinds that no rank can end before every member has come to them. */
const needsAll: ReadonlySet<number> = new Set(
  (
    [
      "barrier",
      "allgather",
      "allgatherv",
      "alltoall",
      "alltoallv",
      "allreduce",
      "reduce_scatter_block",
      "reduce_scatter",
      "comm_dup",
      "comm_create",
      "comm_split",
      "intercomm_merge",
      "dist_graph_create",
      "file_open",
    ] satisfies KindName[]
  ).map((name) => kindCode[name]),
);
export const needsEveryMember = (kind: number): boolean => needsAll.has(kind);

/** Functions that are carried out as another one. */
const others: Readonly<Partial<Record<KindName, string>>> = {
  comm_dup: " or another function that duplicates a communicator",
  comm_create: " or a function that makes a topology",
};

/** In MPI's words: `MPI_Bcast of 12 bytes from root 1`. */
export function textOf({ kind, root, bytes }: CollectiveCall): string {
  const name = kinds[kind];
  if (name === undefined) return "another collective";
  const length = bytes === unlike ? "" : ` of ${bytes} bytes`;
  return `MPI_${name[0]!.toUpperCase()}${name.slice(1)}${others[name] ?? ""}${length}${root === unlike ? "" : ` with root ${root}`}`;
}
