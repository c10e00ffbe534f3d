/** Shapes of the values that the parts of message logging send each other. */
import { absent, int32s, kind, list, object, text, whole } from "../../base/value-shape.ts";
import type { ProtocolShapes } from "../protocol-shapes.ts";
import { sentInSetShape } from "../sent-in-set-shape.ts";
import type { KnownStream, LogFullWords } from "./logging-job.ts";
import type { KnownChoices } from "./logging-protocol.ts";
import type { Logged } from "./report.ts";

const count = whole(0, Number.MAX_SAFE_INTEGER);
const set = whole(0, 0x7fffffff);
/** Positions in streams are 32 bits that wrap, with a sign or without. */
const position = whole(-0x80000000, 0xffffffff);

/** For a node: the streams of its sets that have had a life before, and the bound of a payload log's memory. */
export interface LoggingNodeSetup {
  /** Streams of other sets begin at 0. */
  readonly streams: readonly KnownStream[];
  readonly logBytesMax: number;
}

/** For a node: there is an event logger, perhaps in the place of one that was lost. */
export interface LoggerIsAt {
  readonly logger: { readonly host: string; readonly port: number };
}

export const loggingShapes: ProtocolShapes = {
  forNode: object<LoggingNodeSetup>({
    streams: list(object<KnownStream>({ set, from: position, words: int32s })),
    logBytesMax: count,
  }),
  toNode: object<LoggerIsAt>({ logger: object<LoggerIsAt["logger"]>({ host: text, port: whole(0, 65535) }) }),
  fromNode: absent,
  forRanks: object<KnownChoices>({ log: int32s, setOf: list(set), parted: list(sentInSetShape) }),
  fromRank: object<LogFullWords>({ kind: kind("log-full"), sets: list(set) }),
  report: object<Logged>({ bytesTo: list(count), messages: count, determinantBytes: count }),
};
