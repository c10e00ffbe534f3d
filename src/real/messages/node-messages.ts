/**
 * Everything that crosses between the dispatcher and a node (the agent), as unions; one interface for each message. Over the
 * control link, which checks them (`control-link/message-shapes.ts`). What crosses between a node and its ranks, and what a
 * node passes on, is in `rank-messages.ts`. The job's secret is in none of them.
 *
 * All of them come from one build: a node tells the build it is from in `ready`, and the dispatcher refuses another.
 */

import type { Terminals } from "../../core/base/terminals.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import type { NodeMap } from "../../core/process/node-map.ts";
import type { Origin } from "../../core/process/spawner.ts";
import type { Ending } from "../../core/service/ending.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { KeptNumbers } from "../../core/service/set-checkpoints.ts";
import type { CopiedRound } from "../cloning/messages.ts";
import type { MemoryWish } from "../cloning/ready-memory.ts";
import type { FilesProof } from "../disk/same-files.ts";
import type { Address } from "../transport/sockets/address.ts";
import type { TcpEvent } from "../transport/tcp/tcp-host.ts";
import type { LineChunk } from "./lines.ts";
import type { CallsPassed, Life, RankRestart, RecoveryFacts } from "./lives.ts";
import type { Folder, OtherProgram, ProgramForm, ProgramPlace } from "./program-place.ts";
import type { Captured, GoOnAfter, Input, ProtocolWords, RankWord, SpawnAnswered, Watch } from "./rank-messages.ts";
import type { RankPlace } from "./whereabouts.ts";

/** Which build this is. Two of them never speak to each other, so messages need no version of their own. */
export const build: string = __BANYAN_VERSION__;

// Dispatcher → node

/** The first message: all a node needs to start its threads, which then wait for `run`. */
/** To a process that waits to take the place of a node: the memory of a clone will come then, and threads shall be ready for it. */
interface Reserve {
  readonly kind: "reserve";
}
/** To such a process: ranks use so much of their memories. Said again when it is more. */
export interface ReserveMemory extends MemoryWish {
  readonly kind: "reserve-memory";
}

export interface Setup {
  readonly kind: "setup";
  readonly node: number;
  /** How many processes the job starts with: one for each rank, unless `replicas` says otherwise. */
  readonly ranks: number;
  /** By rank: how many processes play it; null: one (core/base/players.ts). */
  readonly replicas: readonly number[] | null;
  /** The name of the machine that programs see, where it must be the same in all replicas; null: that of the node's machine. */
  readonly hostName: string | null;
  /** Of each process that the job can have: its ranks, then those that may be spawned. */
  readonly placement: Placement;
  readonly nodeMap: NodeMap;
  /** By name, with the values of its options. */
  readonly protocol: string;
  readonly protocolOptions: OptionValues;
  /** For the protocol's part in this node; undefined: nothing. */
  readonly protocolPart: unknown;
  /** The seed of the ranks' randomness under a protocol that replays: 32 bits, the same in every life. */
  readonly seed: number;
  /** When the job began, in milliseconds since 1970. */
  readonly beganMs: number;
  readonly program: ProgramPlace;
  /** Where the job's ranks run several programs (MPMD): all but the first, in the order of their ranks. */
  readonly others: readonly OtherProgram[];
  /** Proves that the node sees the dispatcher's files, by the names in this message; null: files are sent in any case. */
  readonly sameFiles: FilesProof | null;
  readonly heartbeatMs: number;
  /** After so long without a word the node asks whether the dispatcher lives. */
  readonly dispatcherQuietMs: number;
  /** Size of each rank's JavaScript heap; 0 leaves it to Node. */
  readonly heapMb: number;
  /** Size of the node's shared memory; of a C program the size of each rank's own. */
  readonly memoryMb: number;
  /** Folders that a C program is given, under the names by which it knows them. */
  readonly folders: readonly Folder[];
  /** The environment of a C program; null: that of the node. */
  readonly environment: Readonly<Record<string, string>> | null;
  /** Its ranks stop for a debugger before the first line of the program. */
  readonly isDebugged: boolean;
  /** What the program is told of the job's streams. */
  readonly terminals: Terminals;
  /** Where images are to be written when the job is frozen or moved, and where those are that its ranks go on from; empty: nowhere. */
  readonly freezeTo: string;
  readonly thawFrom: string;
  /** A program of which there can be no images is refused: somebody means to freeze the job. */
  readonly mustFreeze: boolean;
  /** What goes on is this job, in other places: its lines and its input are counted on. */
  readonly isMoved: boolean;
  /** Processes that do not begin: the job goes on from a checkpoint without them. */
  readonly absent: readonly number[];
  /** How many ranks of a C program share a thread. */
  readonly ranksPerThread: number;
  /** Where each rank writes its trace; empty: no trace. */
  readonly traceFolder: string;
  /** Where this node listens for others; 0 leaves it to the system. */
  readonly port: number;
  /** Where the lost are started again; null otherwise. */
  readonly recovery: RecoverySetup | null;
  /** The moments that ranks of this node report to a fault plan; ranks that are not named report nothing. */
  readonly watches: readonly Watch[];
}
export interface RecoverySetup extends RecoveryFacts {
  /** Checkpoint servers, which keep the images; sets go round. None: the folder does. Null: one is not there at the moment. */
  readonly checkpointServers: readonly (Address | null)[];
  /** How ranks of this node begin that have had a life before. */
  readonly restarts: readonly RankRestart[];
  /** No rank begins with the node: they are started one by one (`restart-ranks`). */
  readonly startsEmpty: boolean;
}
/**
 * Processes that the job did not start with: the node makes room for them, starts them, and answers `ranks-ready`. Its gate
 * is open by then.
 */
export interface StartRanks {
  readonly kind: "start-ranks";
  /** Returns in the answer. */
  readonly order: number;
  /** The processes of one world that this node has. */
  readonly ranks: readonly NewRank[];
}
export interface NewRank {
  readonly rank: number;
  readonly program: ProgramPlace;
  readonly folders: readonly Folder[];
  readonly origin: Origin;
}
/** These processes are not wanted after all (another node has no room for the rest of their world), or were aborted. */
interface EndRanks {
  readonly kind: "end-ranks";
  readonly ranks: readonly number[];
}
/** Where each rank is to be found now: all of them, whatever was said before. */
interface Contacts {
  readonly kind: "contacts";
  /** By rank; null: its node does not listen at the moment. */
  readonly addresses: readonly (Address | null)[];
}

/** The program is bundled: let the ranks run it. */
export interface RunProgram {
  readonly kind: "run";
  readonly form: ProgramForm;
  /** Files of packages that it imports where they are. */
  readonly packages: readonly string[];
}
/** So many bytes of output have been written or dropped: the node may send as many more. */
export interface Written {
  readonly kind: "written";
  readonly bytes: number;
}
/** A process is dead; in the dispatcher's order. */
export interface DeathNotice {
  readonly kind: "death";
  readonly order: number;
  readonly rank: number;
  readonly incarnation: number;
}
/** Of a job in which there were deaths: the program of that rank is over, behind the last meeting of its world. */
interface RankLeft {
  readonly kind: "left";
  readonly rank: number;
}
/** Ranks live again; in the dispatcher's order, after their deaths. Where they are to be found, `contacts` says. */
interface RanksLiveAgain {
  readonly kind: "returned";
  readonly ranks: readonly Life[];
}
/** Every rank shall stop inside an MPI call, and write an image of itself when all have. */
interface Freeze {
  readonly kind: "freeze";
}
/** All images were asked for: they are there and the ranks end, or one is not and the ranks go on. */
export interface FreezeEnds {
  readonly kind: "frozen";
  readonly isGood: boolean;
}
/** These ranks shall stop inside an MPI call, and write images of themselves under that number when all have. */
interface TakeCheckpoint {
  readonly kind: "checkpoint";
  readonly set: number;
  readonly members: readonly number[];
  readonly number: number;
  readonly kept: KeptNumbers;
}
/** Where the checkpoint servers are now: all of them, as in `RecoverySetup`. */
interface CheckpointServersAre {
  readonly kind: "checkpoint-servers";
  readonly addresses: readonly (Address | null)[];
}
/** The images are written, or given up: those ranks go on. */
interface GoOn {
  readonly kind: "go-on";
  readonly set: number;
  readonly members: readonly number[];
}
/** No image of that set older than this checkpoint will be restored any more. */
export interface Oldest {
  readonly kind: "oldest";
  readonly set: number;
  readonly number: number;
  /** The position in its images, for the protocol's part in the node. */
  readonly position: number;
}
/**
 * Those ranks, all that the node has of some sets, begin their next life in new threads; threads that they still have go
 * first. Answered by `ranks-returned`.
 */
export interface RestartRanks {
  readonly kind: "restart-ranks";
  readonly ranks: readonly number[];
  readonly recovery: RecoverySetup;
  /** As in `Setup`. */
  readonly protocolPart: unknown;
  readonly watches: readonly Watch[];
}
/** A clone shall be made from that rank of the node, under that number: `clone` says where its memory can be had. */
interface GiveClone {
  readonly kind: "give-clone";
  readonly rank: number;
  readonly number: number;
  /** It is the next life of the rank itself, which stands still when its last page has left. */
  readonly isMoved: boolean;
}
/** A clone shall be that rank of the node: its memory comes from there. */
interface TakeClone {
  readonly kind: "take-clone";
  readonly rank: number;
  readonly number: number;
  readonly source: number;
  /** A connection for each lane. */
  readonly from: readonly Address[];
}
/** That rank of another node will go on here: it has a place from now on, and `restart-ranks` will come. */
interface AdoptRank {
  readonly kind: "adopt-rank";
  readonly rank: number;
}
/** That rank of the node goes on elsewhere, in that life; or it was adopted, and will not come. Its thread ends without a word. */
interface ReleaseRank {
  readonly kind: "release-rank";
  readonly rank: number;
  readonly incarnation: number;
}
/** That rank of the node, which stands still to go on elsewhere in that life, will not: it goes on here. */
interface StayRank {
  readonly kind: "stay-rank";
  readonly rank: number;
  readonly incarnation: number;
}
/** There will be no clone of that rank, or from it. */
interface DropClone {
  readonly kind: "drop-clone";
  readonly rank: number;
}
/** The fault plan ends the threads of those ranks. */
interface KillRanks {
  readonly kind: "kill-ranks";
  readonly ranks: readonly number[];
}
/** The fault plan changes so many bits of the memory of that rank's program; which follow from the seed. */
interface FlipBits {
  readonly kind: "flip-bits";
  readonly rank: number;
  readonly bits: number;
  readonly seed: number;
}
/** The fault plan has cut the links to those ranks, all on one node, or restores them. */
export interface Links {
  readonly kind: "links";
  readonly ranks: readonly number[];
  readonly areCut: boolean;
}
/** Where are your ranks? Answered by `whereabouts` with the same number. */
interface Where {
  readonly kind: "where";
  readonly number: number;
}
/** The node is of no use to the job, and shall not join again: of one that had offered itself. */
interface Dismissed {
  readonly kind: "dismissed";
  readonly why: string;
}
/** Stop the ranks, hand over what they printed, leave. */
export interface End {
  readonly kind: "end";
}
export type ToNode =
  | Reserve
  | ReserveMemory
  | Setup
  | Contacts
  | RunProgram
  | StartRanks
  | EndRanks
  | SpawnAnswered
  | Written
  | Input
  | DeathNotice
  | RankLeft
  | RanksLiveAgain
  | Freeze
  | FreezeEnds
  | ProtocolWords
  | TakeCheckpoint
  | CheckpointServersAre
  | GoOn
  | Oldest
  | RestartRanks
  | GiveClone
  | TakeClone
  | AdoptRank
  | ReleaseRank
  | StayRank
  | DropClone
  | KillRanks
  | FlipBits
  | GoOnAfter
  | Links
  | Where
  | Dismissed
  | End;

// Node → dispatcher

/** The node is there and has started its threads. */
export interface Ready {
  readonly kind: "ready";
  readonly build: string;
  /** Where it listens for other nodes; null: nowhere, in a job of one node or under a protocol that relays. */
  readonly address: Address | null;
}
/** The node cannot take part. */
interface Unable {
  readonly kind: "unable";
  readonly why: string;
}
/** News of connections between nodes. */
export interface Connections {
  readonly kind: "connections";
  readonly event: TcpEvent;
}
interface Heartbeat {
  readonly kind: "heartbeat";
  /** Where the lost are started again: how far the ranks of the node have come, as far as is known; otherwise empty. */
  readonly passed: readonly CallsPassed[];
  /** How many of the node's ranks have come to the end of their program and wait for others, for some time already. */
  readonly over: number;
  /** How many packets its ranks have been sent by each other. */
  readonly packets: number;
  /** The most memory that one of its ranks uses, of those that clones can be made from. */
  readonly usedMb: number;
}
/** Where the ranks of the node are that have not ended. */
interface Whereabouts {
  readonly kind: "whereabouts";
  readonly number: number;
  readonly places: readonly RankPlace[];
}
/** The processes of `start-ranks` can be talked to, or none of them exists. */
interface RanksReady {
  readonly kind: "ranks-ready";
  readonly order: number;
  /** Why they could not be started; empty: they were. */
  readonly problem: string;
}
/** A rank has begun to run the program. */
interface RankStarted {
  readonly kind: "rank-started";
  readonly rank: number;
  readonly incarnation: number;
}
/** Printed bytes of a rank. At most `outputWindowBytes` of a node are unanswered by `written`. */
export interface Output {
  readonly kind: "output";
  readonly rank: number;
  readonly chunk: LineChunk;
}
/** The thread of a rank has ended; everything it printed was sent before, if there was room. */
interface RankEnded {
  readonly kind: "rank-ended";
  readonly rank: number;
  readonly incarnation: number;
  readonly ending: Ending;
}
/** The new lives of those ranks can be talked to. */
interface RanksReturned {
  readonly kind: "ranks-returned";
  readonly ranks: readonly Life[];
}
/** A rank has said what it wants of the whole job. */
export interface FromRankOnwards {
  readonly kind: "from-rank";
  readonly rank: number;
  readonly message: Captured | RankWord;
}
/** Of the memory of a source, or of a clone: which of them `rank` is, the news says. */
interface CloneProgress {
  readonly kind: "clone";
  readonly rank: number;
  readonly number: number;
  readonly news: CloneNews;
}
export type CloneNews =
  /** Of the source: its node gives it away there. */
  | { readonly kind: "listening"; readonly addresses: readonly Address[] }
  /** Of the source: little is left, or it does not become less. */
  | { readonly kind: "copied"; readonly rounds: readonly CopiedRound[] }
  /** Of the source: that much was left when it stood still. */
  | { readonly kind: "left"; readonly last: CopiedRound }
  /** Of the clone: all of it is there. */
  | { readonly kind: "arrived"; readonly bytes: number }
  /** Of either. */
  | { readonly kind: "failed"; readonly problem: string };
/** Its machine is about to go (SIGTERM): its ranks should be elsewhere. */
interface Leaving {
  readonly kind: "leaving";
}
/** The node has done as `end` told it: nothing comes after this. */
interface Bye {
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
  | CloneProgress
  | Leaving
  | FromRankOnwards
  | ProtocolWords
  | Whereabouts
  | Bye;
