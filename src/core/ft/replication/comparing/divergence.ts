/** Replicas that send different messages, told to the job and to the user. */
import { flag, kind, object, whole } from "../../../base/value-shape.ts";
import { isOfProgram } from "../../send-record/send-log.ts";
import { replicasMax } from "../membership.ts";
import type { SendDivergence } from "./send-comparison.ts";

/** From a rank to the part for the job. Plain data. */
export interface DivergedWords {
  readonly kind: "diverged";
  readonly rank: number;
  readonly replica: number;
  readonly other: number;
  readonly dest: number;
  /** Of the message: its number in its channel, and what the reporting process has sent. */
  readonly sequence: number;
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
  readonly isExact: boolean;
}

const word = whole(-0x80000000, 0x7fffffff);
const rank = whole(0, 0x7fffffff);
const replica = whole(0, replicasMax - 1);

export const divergedShape = object<DivergedWords>({
  kind: kind("diverged"),
  rank,
  replica,
  other: replica,
  dest: rank,
  sequence: word,
  context: word,
  tag: word,
  bytes: word,
  isExact: flag,
});

export const divergedWords = ({ rank, replicas, dest, message, isExact }: SendDivergence): DivergedWords => ({
  kind: "diverged",
  rank,
  replica: replicas[0],
  other: replicas[1],
  dest,
  ...message,
  isExact,
});

/** Messages are counted from 1, as calls are. */
export function divergenceText(words: DivergedWords): string {
  const { rank, replica, other, dest, isExact } = words;
  const number = (words.sequence >>> 0) + 1;
  const what = isExact
    ? `message ${number} to rank ${dest}, ${contentsOf(words)}`
    : `one from ${number} on to rank ${dest}`;
  return (
    `replicas ${replica} and ${other} of rank ${rank} send different messages: ${what}; ` +
    "the program is not send-deterministic, and its answer may be wrong when a replica is lost; " +
    "see banyan check-determinism, or run with --replication leader"
  );
}

const contentsOf = ({ context, tag, bytes }: DivergedWords): string =>
  isOfProgram(context) ? `tag ${tag}, ${bytes} bytes in one of them` : `of a collective, ${bytes} bytes in one of them`;
