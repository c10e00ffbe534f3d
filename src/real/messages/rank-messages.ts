/**
 * Everything that crosses between a node and a rank (a worker thread of it), as unions; one interface for each message. Over the
 * worker's message port, except for output, which has a ring of its own (`line-ring.ts`). What a rank wants of the whole job
 * goes on to the dispatcher as it is (`FromRankOnwards`).
 */

import type { MessagePort } from "node:worker_threads";
import type { Terminals } from "../../core/base/terminals.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import type { SentInSet } from "../../core/ft/set-split.ts";
import type { NodeMap } from "../../core/process/node-map.ts";
import type { Origin, SpawnAnswer, SpawnRequest } from "../../core/process/spawner.ts";
import type { MemoryMarks } from "../../core/request/memory-marks.ts";
import type { Ending } from "../../core/service/ending.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { ArrivedClone, LastLook, LastPart } from "../cloning/messages.ts";
import type { SharedNode } from "../transport/node-memory.ts";
import type { SharedHandover, TcpRequest } from "../transport/tcp/handover.ts";
import type { Life, RankRestart, RecoveryFacts } from "./lives.ts";
import type { Folder, ProgramPlace } from "./program-place.ts";
import type { RestoreGate } from "./restore-gate.ts";

// Node → rank: workerData at the start, then `ToRank` on the port.

export const programNameBytes = 8;

/** The code of a rank, see `rank-code.ts`. */
export interface RankCode {
  readonly file: string;
  readonly folder: string;
  /** rank.cjs as a function of what it uses; a script that was loaded from a cache cannot import modules by itself. */
  readonly source: string;
  readonly cache: SharedArrayBuffer;
  /** Where the cache is kept, or will be; empty: one that is made now must not be kept. */
  readonly cacheFile: string;
  /** Was the cache kept by an earlier run? */
  readonly isKept: boolean;
  /** The names of the programs whose runs have made it. */
  readonly programs: readonly string[];
}

export interface RankSetup {
  /** For the loader only. */
  readonly code: RankCode;
  /** Tells this run of the job from all others. */
  readonly run: string;
  /** The number of the process: its rank, unless `replicas` says otherwise. */
  readonly rank: number;
  readonly incarnation: number;
  /** See `Setup`. */
  readonly ranks: number;
  readonly replicas: readonly number[] | null;
  readonly hostName: string | null;
  readonly placement: Placement;
  readonly nodeMap: NodeMap;
  /** Of a spawned process; null: one of the job's own ranks. */
  readonly origin: Origin | null;
  /** See `Setup`. */
  readonly protocol: string;
  readonly protocolOptions: OptionValues;
  /** From the protocol's part in the node; undefined: nothing. */
  readonly protocolPart: unknown;
  /** See `Setup`. */
  readonly seed: number;
  /** When the job began, in milliseconds since 1970. */
  readonly beganMs: number;
  readonly program: ProgramPlace;
  readonly traceFile: string;
  /** The node's memory (`agent-memory.ts`). */
  readonly memory: SharedNode;
  /** By process of the job: its index in the node, −1: it is elsewhere. */
  readonly places: Int32Array;
  /** Connections to other nodes, see `tcp/handover.ts`; null where no node listens: a job of one node, or one whose ranks speak through services alone. */
  readonly handover: SharedHandover | null;
  /** Memories of the C programs of this node's ranks, by their places, as far as they are there; none for TypeScript. */
  readonly programMemories: readonly (WebAssembly.Memory | undefined)[];
  readonly folders: readonly Folder[];
  /** See `Setup`. */
  readonly environment: Readonly<Record<string, string>> | null;
  readonly terminals: Terminals;
  /** See `Setup`. */
  readonly isDebugged: boolean;
  readonly freezeTo: string;
  readonly thawFrom: string;
  readonly mustFreeze: boolean;
  readonly isMoved: boolean;
  /** Shared by ranks that go on from images together, see `restore-gate.ts`; null: this one waits for nobody. */
  readonly restoreGate: RestoreGate | null;
  /** Where the lost are started again; null otherwise. */
  readonly recovery: RankRecovery | null;
  /** Of a process that was spawned: those that died before its birth, in the dispatcher's order. */
  readonly deaths: readonly Life[];
  /** The moments that the rank reports to a fault plan; null: none. */
  readonly watch: Watch | null;
  /** Ring for what the rank prints. */
  readonly lines: SharedArrayBuffer;
  /** Where the rank says where it is, see `whereabouts.ts`. */
  readonly whereabouts: SharedArrayBuffer;
  /** Words of the node, see `node-words.ts`. */
  readonly words: SharedArrayBuffer;
}

/** For the thread of a rank in TypeScript. */
export interface ThreadSetup extends RankSetup {
  /** See `machine/undisturbed.ts`. */
  readonly undisturbed: SharedArrayBuffer;
}

export interface RankRecovery extends RecoveryFacts {
  /** Where its node sees how many calls it has passed. */
  readonly passed: Float64Array;
  /** How it begins, if it has had a life before. */
  readonly restart: RankRestart | null;
  /** Where the image is that it goes on from; empty: it begins at the start of the program. */
  readonly imageFolder: string;
  /** Of a clone whose memory is filled already: the rest of its image. Null: there is none. */
  readonly arrived: ArrivedClone | null;
}

/** A fault plan waits for a moment of a rank: the rank reports it, and stands still until it hears `GoOnAfter`. */
export interface Watch {
  readonly rank: number;
  /** The n-th MPI call of a life; 0: none. */
  readonly call: number;
  /** Inside MPI_Init. */
  readonly init: boolean;
}

/** The setup of a thread for ranks of a C program. */
export interface CThreadSetup {
  /** For the loader only. */
  readonly code: RankCode;
  readonly ranks: readonly { readonly setup: RankSetup; readonly port: MessagePort }[];
  /** See `machine/undisturbed.ts`. */
  readonly undisturbed: SharedArrayBuffer;
}

/** Processes are about to be born on this node: where their programs have their buffers. */
export interface NewNeighbours {
  readonly kind: "neighbours";
  readonly neighbours: readonly { readonly place: number; readonly memory: WebAssembly.Memory }[];
}
/** Standard input for that rank from that place on, in answer to `input-wanted`; null is its end. */
export interface Input {
  readonly kind: "input";
  readonly rank: number;
  readonly offset: number;
  readonly bytes: Uint8Array | null;
}
/** The answer to a rank's spawn. */
export interface SpawnAnswered {
  readonly kind: "spawn-answer";
  readonly rank: number;
  readonly answer: SpawnAnswer;
}
/** A rank that stands still for the fault plan goes on. */
export interface GoOnAfter {
  readonly kind: "go-on-after";
  readonly rank: number;
  /** The next of its calls that matters; 0: none. */
  readonly call: number;
}
export type ToRank = Input | NewNeighbours | SpawnAnswered | GoOnAfter;

// Rank → node

interface RankRuns {
  readonly kind: "runs";
  /** How much of its memory a program in C uses; null: it has none of its own. */
  readonly marks: MemoryMarks | null;
}
/** V8's compiled code, for ranks of later runs; only of the first run of a program. */
export interface RankCompiled {
  readonly kind: "compiled";
  readonly cache: Uint8Array;
  /** The name of the program: `programNameBytes` as hexadecimal digits. */
  readonly program: string;
}
/** MPI_Abort. */
interface RankAbort {
  readonly kind: "abort";
  readonly code: number;
  readonly message: string;
  /** Of its communicator, if that is not the world; none: all processes are meant. */
  readonly members: readonly number[];
}
/** `mpi.result(value)`, serialised by the rank so that a value that cannot be is the program's error there. */
interface RankResult {
  readonly kind: "result";
  readonly value: Uint8Array;
}
/** MPI_Comm_spawn: the rank waits for `SpawnAnswered`. */
interface RankSpawn {
  readonly kind: "spawn";
  readonly request: SpawnRequest;
}
/** The program reads standard input and has nothing left of it: so much it has had. */
interface InputWanted {
  readonly kind: "input-wanted";
  readonly offset: number;
}
/** It stands still, for an image. */
interface RankStopped {
  readonly kind: "stopped";
  /** Of the checkpoint; 0: the job is being frozen. */
  readonly number: number;
}
/**
 * It stands still, and its image of a checkpoint is in a file that nobody relies on yet (`writeImagePart`): the node makes the file
 * durable, or sends it where images are kept, and says `image` when that is done.
 */
export interface Captured extends CaptureFacts {
  readonly kind: "captured";
}
/** It stands still, and a clone of it is being made whose node has all of its memory but what has changed there; `LastPartOfClone` follows. */
export interface LastLookOfClone {
  readonly kind: "last-look";
  /** Of the image. */
  readonly number: number;
  readonly look: LastLook;
}
/** And all of its state. */
export interface LastPartOfClone extends CaptureFacts {
  readonly kind: "last-part";
  readonly last: LastPart;
}
/** Its image is durable, or why it is not. It stands still until it hears `FreezeEnds`. */
export interface RankImage extends CaptureFacts {
  readonly kind: "image";
  /** Empty: none. */
  readonly problem: string;
}
export interface CaptureFacts {
  /** Of the checkpoint; 0: the job is being frozen. */
  readonly number: number;
  /** The position, which only the protocol understands. */
  readonly position: number;
  /** How many calls it had passed. */
  readonly callsPassed: number;
  /** How much of standard input it had been given. */
  readonly inputOffset: number;
  /** From its stop until nothing was under way any more between the ranks that are captured together. */
  readonly settledMs: number;
  /** Checkpoints of its set whose images this one builds upon; empty: it is whole. */
  readonly needs: readonly number[];
  /** What it had sent to the others of its set (core/ft/set-split.ts); empty: it has none, or nobody needs to know. */
  readonly sent: readonly SentInSet[];
}
/** Its program has called `mpi.checkpoint`, and waits until all of its set have. */
interface CheckpointWanted {
  readonly kind: "checkpoint-wanted";
  readonly incarnation: number;
}
/** Its program is over; it stays to serve others until the job is. */
interface RankDone {
  readonly kind: "done";
  readonly incarnation: number;
}
/** Its program is over, and has called MPI_Init and not MPI_Finalize. Said before `done`, and before its thread ends. */
interface RankUnfinalized {
  readonly kind: "unfinalized";
}
/** Its program is over, and this is what its protocol has to say to that one's part for the job. */
interface RankReport {
  readonly kind: "report";
  readonly report: unknown;
}
/** A new life has come as far as the one before. */
export interface RankCaughtUp {
  readonly kind: "caught-up";
  readonly incarnation: number;
}
/** Between the protocol's part for the job and its part in a node, or from a rank to the part for the job; only the protocol understands it. */
export interface ProtocolWords {
  readonly kind: "protocol";
  readonly words: unknown;
}
/** A moment that the fault plan waits for, see `Watch`. */
export interface RankStandsStill {
  readonly kind: "stands-still";
  /** The call, counted from the beginning of this life; 0: it is inside MPI_Init. */
  readonly call: number;
}
/** The image that it should have gone on from is no good. */
interface ImageUnreadable {
  readonly kind: "image-unreadable";
  readonly checkpoint: number;
  readonly problem: string;
}
/** A name that its program used is a link out of the folders given, and was refused; said of the first. */
interface RankLeadsOut {
  readonly kind: "leads-out";
  readonly path: string;
  readonly target: string;
}
/** The rank's own word on how it ended, said last. */
export interface RankEnding {
  readonly kind: "ending";
  readonly ending: Ending;
}
/** Messages that the node passes on to the dispatcher as they are. */
export type RankWord =
  | RankAbort
  | RankResult
  | RankSpawn
  | InputWanted
  | RankStopped
  | RankImage
  | RankReport
  | RankUnfinalized
  | RankDone
  | CheckpointWanted
  | ProtocolWords
  | RankCaughtUp
  | RankStandsStill
  | ImageUnreadable
  | RankLeadsOut;
export type FromRank =
  | RankRuns
  | RankCompiled
  | Captured
  | LastLookOfClone
  | LastPartOfClone
  | RankWord
  | RankEnding
  | TcpRequest;
