/**
 * Messages between the dispatcher and the event logger's process, over the IPC channel of `fork`. (Nodes speak to it over
 * channels, real/service-channel.)
 */
import type { JobSecret } from "../transport/handshake/handshake.ts";

/** The first message. */
export interface LoggerSetup {
  readonly kind: "setup";
  readonly job: JobSecret;
  /** The address at which nodes call it. */
  readonly host: string;
  /** The file of its streams. */
  readonly file: string;
  /** What there is of an event logger before: nothing (it is the first), its file, or what nodes tell. */
  readonly inherits: "nothing" | "file" | "nodes";
  /** What is written is forced to the disk before it is acknowledged. */
  readonly isForDisk: boolean;
}
/** `EventLogger.fence`; answered by `fenced`. */
export interface Fence {
  readonly kind: "fence";
  readonly set: number;
  readonly incarnation: number;
  readonly from: number;
}
/** `EventLogger.trim`. */
export interface Trim {
  readonly kind: "trim";
  readonly set: number;
  readonly below: number;
}
/** `EventLogger.reached`; answered by `end-is`. */
interface AskEnd {
  readonly kind: "ask-end";
  readonly set: number;
}
/** Answered by `lives`: the dispatcher watches over the event logger as over nodes. */
interface AskLife {
  readonly kind: "ask-life";
}
export type ToLogger = LoggerSetup | Fence | Trim | AskEnd | AskLife;

/** It listens on that port. */
interface LoggerReady {
  readonly kind: "ready";
  readonly port: number;
}
/** It cannot listen, now or later. */
interface LoggerUnable {
  readonly kind: "unable";
  readonly why: string;
}
/** Its streams could not be read or written, and why, for people. */
interface StoreTrouble {
  readonly kind: "store-trouble";
  /** Streams that could not be written must not be read by the event logger that takes its place. */
  readonly could: "not-read" | "not-write";
  readonly why: string;
}
/** Answers come in the order of the questions. A log comes in parts: signs of life would have to wait behind all of it. */
interface Fenced {
  readonly kind: "fenced";
  readonly log: Int32Array | null;
  readonly isLast: boolean;
}
interface EndIs {
  readonly kind: "end-is";
  readonly position: number | null;
}
export interface Lives {
  readonly kind: "lives";
}
export type FromLogger = LoggerReady | LoggerUnable | StoreTrouble | Fenced | EndIs | Lives;
