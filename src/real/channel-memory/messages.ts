/** Messages between the dispatcher and the process of a channel memory, over the IPC channel of `fork`. Ranks speak to it over channels. */
import type { MemoryAmounts } from "../../core/ft/channel-memory/report.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";

/** The first message. */
export interface MemorySetup {
  readonly kind: "setup";
  readonly job: JobSecret;
  /** The address at which nodes call it. */
  readonly host: string;
  /** Of its segments. What is there was written by processes before this one. */
  readonly folder: string;
  /** Which of the memories it is. */
  readonly memory: number;
  readonly memories: number;
  readonly ranks: number;
  /** What is written is forced to the disk before anything follows from it. */
  readonly isForDisk: boolean;
}

/** Answered by `lives`: the dispatcher watches over a memory as over nodes. */
interface AskLife {
  readonly kind: "ask-life";
}
export type ToMemoryProcess = MemorySetup | AskLife;

/** It listens on that port. */
interface MemoryReady {
  readonly kind: "ready";
  readonly port: number;
}
/** It cannot do its work, now or later. */
interface MemoryUnable {
  readonly kind: "unable";
  readonly why: string;
}
/** What has come to this process of it so far. */
interface MemoryLives {
  readonly kind: "lives";
  readonly amounts: MemoryAmounts;
}
/** There is no room on the disk: this process ends, and another tries. */
interface MemoryFull {
  readonly kind: "full";
}
export type FromMemoryProcess = MemoryReady | MemoryUnable | MemoryLives | MemoryFull;
