/** Replicas whose messages were found to differ before a program saw them, told to the job and to the user. */
import { kind, list, object, whole } from "../../../base/value-shape.ts";
import { isOfProgram } from "../../send-record/send-log.ts";
import { replicasMax } from "../membership.ts";
import type { Suspicion } from "./message-comparison.ts";

/** From a rank to the part for the job. Plain data. */
export interface SuspectedWords extends Suspicion {
  readonly kind: "suspected";
}

const word = whole(-0x80000000, 0x7fffffff);
const rank = whole(0, 0x7fffffff);

export const suspectedShape = object<SuspectedWords>({
  kind: kind("suspected"),
  rank,
  accused: whole(-1, replicasMax - 1),
  life: rank,
  replicas: list(whole(0, replicasMax - 1)),
  dest: rank,
  sequence: word,
  context: word,
  tag: word,
  bytes: word,
});

export const suspectedWords = (suspicion: Suspicion): SuspectedWords => ({ kind: "suspected", ...suspicion });

/** Messages are counted from 1, as calls are. */
export function suspicionText(words: SuspectedWords): string {
  const { rank, accused, replicas } = words;
  if (accused >= 0) {
    return `replica ${accused} of rank ${rank} is corrupt, and is ended: ${messageOf(words)} is not what ${replicas.length === 3 ? "both others send" : "most others send"}`;
  }
  return (
    `Cannot go on: ${differenceText(words)}; ` +
    "memory was corrupted, or the program is not send-deterministic (banyan check-determinism); three replicas would tell which is right"
  );
}

/** Nobody can tell who is right. */
export function differenceText(words: SuspectedWords): string {
  const { rank, replicas } = words;
  const named = `${replicas.slice(0, -1).join(", ")} and ${replicas.at(-1)}`;
  return `replicas ${named} of rank ${rank} send different messages, ${messageOf(words)}`;
}

function messageOf({ rank, dest, sequence, context, tag, bytes }: SuspectedWords): string {
  const what = isOfProgram(context)
    ? `communicator ${context}, tag ${tag}`
    : `of a collective, communicator ${context}`;
  return `message ${(sequence >>> 0) + 1} of rank ${rank} to rank ${dest} (${what}, ${bytes} bytes)`;
}
