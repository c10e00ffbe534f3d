/**
 * Everything that crosses between the dispatcher, a node (the agent) and a rank (a worker thread of the node), as unions;
 * one interface for each message. Dispatcher and node speak over the IPC channel of `fork` with structured clone; node
 * and rank over the worker's message port, except for output, which has a ring of its own (`line-ring.ts`).
 *
 * All three come from one build: a node tells the build it is from in `ready`, and the dispatcher refuses another.
 */
import type { MessagePort } from "node:worker_threads";
import type { Logged } from "../../core/ft/logging/logging-protocol.ts";
import type { Origin, SpawnAnswer, SpawnRequest } from "../../core/process/spawner.ts";
import type { Ending } from "../../core/service/ending.ts";
import type { SharedHandover, TcpRequest } from "../transport/tcp/handover.ts";
import type { Job as TcpJob } from "../transport/tcp/hello.ts";
import type { Address, TcpEvent } from "../transport/tcp/tcp-host.ts";
import type { SharedRing } from "./determinant-ring.ts";
import type { ImageToStore } from "./image-store.ts";
import type { SharedNode } from "./node-memory.ts";
import type { RankCode } from "./rank-code.ts";

/** Which build this is. Two of them never speak to each other, so messages need no version of their own. */
export const build: string = __BANYAN_VERSION__;

export type Stream = "stdout" | "stderr";

// Dispatcher → node

/** The first message: all a node needs to start its threads, which then wait for `run`. */
export interface Setup {
  readonly kind: "setup";
  readonly node: number;
  /** How many ranks the job starts with. */
  readonly ranks: number;
  /** Node of each process that the job can have: its ranks, then those that may be spawned. */
  readonly nodeOf: readonly number[];
  readonly protocol: string;
  /** What the randomness of the ranks comes from under a protocol that replays: 32 bits, the same in every life. */
  readonly seed: number;
  readonly program: ProgramPlace;
  readonly heartbeatMs: number;
  /** Size of each rank's JavaScript heap; 0 leaves it to Node. */
  readonly heapMb: number;
  /** Size of the node's shared memory; of a C program the size of each rank's own. */
  readonly memoryMb: number;
  /** Folders that a C program is given, under the names by which it knows them. */
  readonly folders: readonly Folder[];
  /** Where images are to be written when the job is frozen, and where those are that its ranks go on from; empty: nowhere. */
  readonly freezeTo: string;
  readonly thawFrom: string;
  /** How many ranks of a C program share a thread. */
  readonly ranksPerThread: number;
  /** Where each rank writes its trace; empty: no trace. */
  readonly traceFolder: string;
  /** Where this node listens for others; 0 leaves it to the system. */
  readonly port: number;
  /** What connections between the job's nodes begin with. */
  readonly job: TcpJob;
  /** Under message logging; null otherwise. */
  readonly logging: LoggingSetup | null;
  /** What ranks of this node have to report for a fault plan; those that are not named report nothing. */
  readonly watches: readonly Watch[];
}
/** A fault plan waits for a moment of a rank: the rank reports it, and stands still until it hears `GoOnAfter`. */
export interface Watch {
  readonly rank: number;
  /** The n-th MPI call of a life; 0: none. */
  readonly call: number;
  /** Inside MPI_Init. */
  readonly init: boolean;
}
/** What a node needs to know under message logging. */
export interface LoggingSetup {
  /** Correlated set of each rank. */
  readonly setOf: readonly number[];
  /** Which life of each rank is the present one. */
  readonly incarnations: readonly number[];
  /** What is known of the streams of determinants of sets that have had a life before; those of others begin at 0. */
  readonly streams: readonly KnownStream[];
  /** How ranks of this node begin that have had a life before. */
  readonly restarts: readonly RankRestart[];
  /** Where images of checkpoints are written: a folder for each set, one in it for each number. */
  readonly checkpointFolder: string;
  /** How much of a rank's payload log may be in memory, and where the rest goes. */
  readonly logBytesMax: number;
  readonly spillFolder: string;
  /** When the job began, in milliseconds since 1970. */
  readonly beganMs: number;
}
/** The words of a set's stream since the oldest image that may be restored. */
export interface KnownStream {
  readonly set: number;
  readonly from: number;
  readonly words: Int32Array;
}
/** How a rank begins its next life. */
export interface RankRestart {
  readonly rank: number;
  readonly incarnation: number;
  /** The checkpoint that it goes on from, 0: the start of the program; and where its image is, empty: there is none. */
  readonly checkpoint: number;
  readonly imageFolder: string;
  /** The determinants of its set since then. */
  readonly log: Int32Array;
}
export interface Folder {
  readonly name: string;
  readonly path: string;
}
/**
 * Processes that the job did not start with: the node makes room for them, starts them, and answers `ranks-ready`. Its gate
 * is open by then.
 */
export interface StartRanks {
  readonly kind: "start-ranks";
  /** Returns in the answer. */
  readonly order: number;
  /** Those of one world that this node has. */
  readonly ranks: readonly NewRank[];
}
export interface NewRank {
  readonly rank: number;
  readonly program: ProgramPlace;
  readonly folders: readonly Folder[];
  readonly origin: Origin;
}
/** Those are not wanted after all: another node has no room for the rest of their world. */
export interface EndRanks {
  readonly kind: "end-ranks";
  readonly ranks: readonly number[];
}
/** What has come of a rank's spawn. */
export interface SpawnAnswered {
  readonly kind: "spawn-answer";
  readonly rank: number;
  readonly answer: SpawnAnswer;
}
/** Every node listens: where each rank is to be found. */
export interface Contacts {
  readonly kind: "contacts";
  /** By rank. */
  readonly addresses: readonly Address[];
}
/**
 * How the program was bundled. A script (CommonJS) spares every rank the loader for modules, some 4 ms; a module is needed
 * for `await` outside functions and for packages.
 */
export type ProgramForm = "script" | "module" | "wasm";

export interface ProgramPlace {
  /** The user's file, as the program shall see it in `process.argv[1]`. */
  readonly path: string;
  /** The bundle, in one of the two forms; it is there when `run` comes. */
  readonly bundle: Readonly<Record<ProgramForm, string>>;
  readonly args: readonly string[];
  /** C and C++ have threads of their own kind (`c-rank.ts`), and a memory for each rank. */
  readonly language: "typescript" | "c";
}
/** The program is bundled: let the ranks run it. */
export interface Run {
  readonly kind: "run";
  readonly form: ProgramForm;
}
/** So many bytes of output have been written or dropped: the node may send as many more. */
export interface Written {
  readonly kind: "written";
  readonly bytes: number;
}
/** Standard input for rank 0 from that place on, in answer to `input-wanted`; null is its end. */
export interface Input {
  readonly kind: "input";
  readonly offset: number;
  readonly bytes: Uint8Array | null;
}
/** A process is dead; in the dispatcher's order. */
export interface DeathNotice {
  readonly kind: "death";
  readonly order: number;
  readonly rank: number;
  readonly incarnation: number;
}
/** Which life of a rank. */
export interface Life {
  readonly rank: number;
  readonly incarnation: number;
}
/** Ranks live again, all of them at one place; in the dispatcher's order, after their deaths. */
export interface Returned {
  readonly kind: "returned";
  readonly ranks: readonly Life[];
  /** Where their node listens; null in a job of one node. */
  readonly address: Address | null;
}
/** Every rank shall stop inside an MPI call, and write an image of itself when all have. */
export interface Freeze {
  readonly kind: "freeze";
}
/** All images were asked for: they are there and the ranks end, or one is not and the ranks go on. */
export interface FreezeEnds {
  readonly kind: "frozen";
  readonly isGood: boolean;
}
/** There is an event logger, perhaps in the place of one that was lost. */
export interface LoggerIsAt {
  readonly kind: "logger";
  readonly address: Address;
}
/** Those ranks shall stop inside an MPI call, and write images of themselves when all have, under that number. */
export interface TakeCheckpoint {
  readonly kind: "checkpoint";
  readonly set: number;
  readonly members: readonly number[];
  readonly number: number;
}
/** The images are written, or given up: those ranks go on. */
export interface GoOn {
  readonly kind: "go-on";
  readonly set: number;
  readonly members: readonly number[];
}
/** No image of that set older than this checkpoint will be restored any more. */
export interface Oldest {
  readonly kind: "oldest";
  readonly set: number;
  readonly number: number;
  /** Where the set's stream of determinants was. */
  readonly position: number;
}
/**
 * Those ranks, all that the node has of some sets, begin their next life in new threads; threads that they still have go
 * first. Answered by `ranks-returned`.
 */
export interface RestartRanks {
  readonly kind: "restart-ranks";
  readonly ranks: readonly number[];
  readonly logging: LoggingSetup;
  readonly watches: readonly Watch[];
}
/** The fault plan ends the threads of those ranks. */
export interface KillRanks {
  readonly kind: "kill-ranks";
  readonly ranks: readonly number[];
}
/** A rank that stands still for the fault plan goes on. */
export interface GoOnAfter {
  readonly kind: "go-on-after";
  readonly rank: number;
  /** The next of its calls that matters; 0: none. */
  readonly call: number;
}
/** The fault plan has cut the links to those ranks, all on one node, or restores them. */
export interface Links {
  readonly kind: "links";
  readonly ranks: readonly number[];
  readonly areCut: boolean;
}
/** Stop the ranks, hand over what they printed, leave. */
export interface End {
  readonly kind: "end";
}
export type ToNode =
  | Setup
  | Contacts
  | Run
  | StartRanks
  | EndRanks
  | SpawnAnswered
  | Written
  | Input
  | DeathNotice
  | Returned
  | Freeze
  | FreezeEnds
  | LoggerIsAt
  | TakeCheckpoint
  | GoOn
  | Oldest
  | RestartRanks
  | KillRanks
  | GoOnAfter
  | Links
  | End;

// Node → dispatcher

/** The node is there and has started its threads. */
export interface Ready {
  readonly kind: "ready";
  readonly build: string;
  /** Where it listens for other nodes; null in a job of one node. */
  readonly address: Address | null;
}
/** The node cannot take part. */
export interface Unable {
  readonly kind: "unable";
  readonly why: string;
}
/** News of connections between nodes. */
export interface Connections {
  readonly kind: "connections";
  readonly event: TcpEvent;
}
export interface Heartbeat {
  readonly kind: "heartbeat";
}
/** Those of `start-ranks` are there and can be talked to, or none of them is. */
export interface RanksReady {
  readonly kind: "ranks-ready";
  readonly order: number;
  /** Why they could not be started; empty: they were. */
  readonly problem: string;
}
/** A rank has begun to run the program. */
export interface RankStarted {
  readonly kind: "rank-started";
  readonly rank: number;
}
/** What a rank printed. At most `outputWindowBytes` of a node are unanswered by `written`. */
export interface Output {
  readonly kind: "output";
  readonly rank: number;
  readonly chunk: LineChunk;
}
/** The thread of a rank has ended; everything it printed was sent before, if there was room. */
export interface RankEnded {
  readonly kind: "rank-ended";
  readonly rank: number;
  readonly incarnation: number;
  readonly ending: Ending;
}
/** The new lives of those ranks can be talked to. */
export interface RanksReturned {
  readonly kind: "ranks-returned";
  readonly ranks: readonly Life[];
}
/** A rank has said what it wants of the whole job. */
export interface FromRankOnwards {
  readonly kind: "from-rank";
  readonly rank: number;
  readonly message:
    | RankAbort
    | RankResult
    | RankSpawn
    | InputWanted
    | RankStopped
    | Captured
    | RankImage
    | RankDone
    | CheckpointWanted
    | LogFull
    | RankCaughtUp
    | RankStandsStill
    | ImageUnreadable;
}
/** The node has done as `end` told it: nothing comes after this. */
export interface Bye {
  readonly kind: "bye";
}
export type FromNode =
  | Ready
  | Unable
  | Connections
  | Heartbeat
  | RanksReady
  | RankStarted
  | Output
  | RankEnded
  | RanksReturned
  | FromRankOnwards
  | Bye;

/** Consecutive bytes of one stream of one rank: the end of an unfinished line, whole lines, the start of another. */
export interface LineChunk {
  readonly stream: Stream;
  /** Number, in the rank's stream, of the line to which the first byte belongs, and its place in that line. */
  readonly number: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** The unfinished line at the end shall be seen now: the program is about to read input. */
  readonly flush: boolean;
}

// Node → rank: workerData at the start, then `ToRank` on the port.

export interface RankSetup {
  /** For the loader only. */
  readonly code: RankCode;
  /** Tells this run of the job from all others. */
  readonly run: string;
  readonly rank: number;
  readonly incarnation: number;
  /** How many ranks the job starts with; see `Setup`. */
  readonly ranks: number;
  readonly nodeOf: readonly number[];
  /** Of a spawned process; null: one of the job's own ranks. */
  readonly origin: Origin | null;
  readonly protocol: string;
  /** See `Setup`. */
  readonly seed: number;
  readonly program: ProgramPlace;
  readonly traceFile: string;
  /** What `node-memory.ts` made for the ranks of this node. */
  readonly memory: SharedNode;
  /** Connections to other nodes, see `tcp/handover.ts`; null in a job of one node. */
  readonly handover: SharedHandover | null;
  /** Memories of the C programs of this node's ranks, by their places, as far as they are there; none for TypeScript. */
  readonly programMemories: readonly (WebAssembly.Memory | undefined)[];
  readonly folders: readonly Folder[];
  /** See `Setup`. */
  readonly freezeTo: string;
  readonly thawFrom: string;
  /** Under message logging; null otherwise. */
  readonly logging: RankLogging | null;
  /** What it has to report for a fault plan; null: nothing. */
  readonly watch: Watch | null;
  /** Ring for what the rank prints. */
  readonly lines: SharedArrayBuffer;
  /** Words of the node, see `node-words.ts`. */
  readonly words: SharedArrayBuffer;
}

/** What a rank needs to know under message logging. */
export interface RankLogging {
  /** See `LoggingSetup`. */
  readonly setOf: readonly number[];
  readonly incarnations: readonly number[];
  readonly checkpointFolder: string;
  readonly logBytesMax: number;
  readonly spillFolder: string;
  readonly beganMs: number;
  /** The stream of determinants of its set, see `determinant-ring.ts`. */
  readonly stream: SharedRing;
  /** How it begins, if it has had a life before. */
  readonly restart: RankRestart | null;
}

/** What a thread for ranks of a C program starts with. */
export interface CThreadSetup {
  /** For the loader only. */
  readonly code: RankCode;
  readonly ranks: readonly { readonly setup: RankSetup; readonly port: MessagePort }[];
}

/** Processes are about to be born on this node: where their programs have their buffers. */
export interface Neighbours {
  readonly kind: "neighbours";
  readonly neighbours: readonly { readonly place: number; readonly memory: WebAssembly.Memory }[];
}
export type ToRank = Input | Neighbours | SpawnAnswered | GoOnAfter;

// Rank → node

export interface RankRuns {
  readonly kind: "runs";
}
/** What V8 has compiled by now, for ranks of later runs; only when there is none yet. */
export interface RankCompiled {
  readonly kind: "compiled";
  readonly cache: Uint8Array;
}
/** MPI_Abort. */
export interface RankAbort {
  readonly kind: "abort";
  readonly code: number;
  readonly message: string;
}
/** `mpi.result(value)`, serialised by the rank so that a value that cannot be is the program's error there. */
export interface RankResult {
  readonly kind: "result";
  readonly value: Uint8Array;
}
/** MPI_Comm_spawn: the rank waits for `SpawnAnswered`. */
export interface RankSpawn {
  readonly kind: "spawn";
  readonly request: SpawnRequest;
}
/** The program reads standard input and has nothing left of it: so much it has had. */
export interface InputWanted {
  readonly kind: "input-wanted";
  readonly offset: number;
}
/** The job is being frozen, and this rank stands still. */
export interface RankStopped {
  readonly kind: "stopped";
}
/** It stands still and its image has been copied; the node writes it, and says `image` when that is done. */
export interface RankCaptured extends CaptureFacts {
  readonly kind: "captured";
  readonly image: ImageToStore;
}
/** The same, to the dispatcher. */
export interface Captured extends CaptureFacts {
  readonly kind: "captured";
}
/** Its image is on the disk, or why it is not. It stands still until it hears `FreezeEnds`. */
export interface RankImage extends CaptureFacts {
  readonly kind: "image";
  /** Empty: none. */
  readonly problem: string;
}
export interface CaptureFacts {
  /** Of the checkpoint; 0: the job is being frozen. */
  readonly number: number;
  /** Where the stream of determinants of its set was. */
  readonly position: number;
  /** How much of standard input it had been given. */
  readonly inputOffset: number;
  /** From its stop until nothing was under way any more between those who are captured together. */
  readonly settledMs: number;
}
/** The memory of its payload log was short: these sets should take a checkpoint, so that it can be trimmed. */
export interface LogFull {
  readonly kind: "log-full";
  readonly sets: readonly number[];
}
/** Its program has called `mpi.checkpoint`, and waits until all of its set have. */
export interface CheckpointWanted {
  readonly kind: "checkpoint-wanted";
  readonly incarnation: number;
}
/** Its program is over; it stays to serve others until the job is. */
export interface RankDone {
  readonly kind: "done";
  readonly incarnation: number;
  readonly logged: Logged;
}
/** A new life has come as far as the one before. */
export interface RankCaughtUp {
  readonly kind: "caught-up";
  readonly incarnation: number;
}
/** A moment that the fault plan waits for, see `Watch`. */
export interface RankStandsStill {
  readonly kind: "stands-still";
  /** The call, counted from the beginning of this life; 0: it is inside MPI_Init. */
  readonly call: number;
}
/** The image that it should have gone on from is no good. */
export interface ImageUnreadable {
  readonly kind: "image-unreadable";
  readonly checkpoint: number;
  readonly problem: string;
}
/** The rank's own word on how it ended, said last. */
export interface RankEnding {
  readonly kind: "ending";
  readonly ending: Ending;
}
export type FromRank =
  | RankRuns
  | RankCompiled
  | RankAbort
  | RankResult
  | RankSpawn
  | InputWanted
  | RankStopped
  | RankCaptured
  | RankImage
  | RankDone
  | CheckpointWanted
  | LogFull
  | RankCaughtUp
  | RankStandsStill
  | ImageUnreadable
  | RankEnding
  | TcpRequest;

/** How much output of one node may be under way. Must hold at least one ring (`line-ring.ts`). */
export const outputWindowBytes = 1 << 20;
