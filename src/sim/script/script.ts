/**
 * A program as data: the actions of every rank, and the right results. Made by the generator, run by the interpreter, judged by
 * the checkers. Ranks are those of the world, unless a comment says otherwise.
 */
import type { CollectivePlan } from "./collective-plan.ts";
import type { CommunicatorPlan } from "./communicator-plan.ts";
import type { MessagePlan, ReceivePlan } from "./message-plan.ts";
import type { SharedFileAction, SharedFilePlan } from "./shared-file-plan.ts";

/** Requests have numbers that the script chooses, unique in one rank; so have series and messages that are set aside. */
export type Action =
  | MessageAction
  | SeriesAction
  | CancelAction
  | { readonly kind: "collective"; readonly collective: number; readonly request: number }
  /** Blocking, for all members: by a board where they have one. */
  | { readonly kind: "collective-now"; readonly collective: number }
  /** Takes part in making a communicator; −1: one of which the rank is no member. */
  | { readonly kind: "make"; readonly communicator: number; readonly how: Making }
  | { readonly kind: "free"; readonly communicator: number }
  /** Waits for all of them: one after the other as listed, or always for the first that completes. */
  | { readonly kind: "wait"; readonly requests: readonly number[]; readonly inOrder: boolean }
  | { readonly kind: "compute"; readonly forNs: number }
  /** A piece of a line, or its last piece. */
  | { readonly kind: "print"; readonly endsLine: boolean }
  /** An action on a file of the rank's own folder. */
  | { readonly kind: "file"; readonly op: FileOp }
  | SharedFileAction
  /** Rank 0 reads standard input: some bytes, not more than it has room for. */
  | { readonly kind: "input"; readonly room: number };

/** `log` is a file that stays open, also when it is renamed. */
export interface FileOp {
  readonly does: "write" | "create" | "append" | "read" | "truncate" | "rename" | "remove" | "log" | "rename-log";
  readonly name: string;
  /** Renames the file. */
  readonly to: string;
}

type MessageAction =
  | { readonly kind: "send"; readonly message: number; readonly request: number }
  /** Blocking, by the short way where the engine has one. */
  | { readonly kind: "send-now"; readonly message: number }
  /** Buffered: the message is copied, and the program continues at once. */
  | { readonly kind: "send-copy"; readonly message: number }
  | { readonly kind: "receive"; readonly receive: number; readonly request: number }
  | { readonly kind: "receive-now"; readonly receive: number }
  /** Blocking: probes until the message is there, then receives it; a matched probe sets it aside first. */
  | { readonly kind: "probe"; readonly receive: number; readonly matched: boolean }
  /** Blocking: a matched probe whose message is received later. */
  | { readonly kind: "set-aside"; readonly receive: number }
  | { readonly kind: "receive-aside"; readonly receive: number; readonly request: number };

/** Persistent requests. A series is one of them; each of its starts is a message, a receive or a collective of its own. */
type SeriesAction =
  | { readonly kind: "init-send"; readonly series: number; readonly message: number }
  | { readonly kind: "start-send"; readonly series: number; readonly message: number; readonly request: number }
  /** A message in parts, each of which is made ready; pairs with one tag are numbered by `call`. */
  | {
      readonly kind: "init-parts";
      readonly series: number;
      readonly message: number;
      readonly parts: number;
      readonly call: number;
    }
  | { readonly kind: "ready"; readonly series: number; readonly part: number }
  | { readonly kind: "init-all-parts"; readonly series: number; readonly receive: number; readonly call: number }
  | { readonly kind: "init-receive"; readonly series: number; readonly receive: number }
  | { readonly kind: "start-receive"; readonly series: number; readonly receive: number; readonly request: number }
  | { readonly kind: "init-collective"; readonly series: number; readonly collective: number }
  | {
      readonly kind: "start-collective";
      readonly series: number;
      readonly collective: number;
      readonly request: number;
    }
  | { readonly kind: "free-series"; readonly series: number };

export type CancelAction =
  /** Starts a request without a partner, cancels it, and waits: it must be cancelled. */
  | { readonly kind: "cancel-receive"; readonly communicator: number; readonly source: number; readonly tag: number }
  | {
      readonly kind: "cancel-send";
      readonly communicator: number;
      readonly to: number;
      readonly tag: number;
      readonly bytes: number;
    }
  /** Receives a message, cancels the receive meanwhile, and receives the message again if the cancellation succeeded. */
  | { readonly kind: "race-receive"; readonly receive: number; readonly afterNs: number }
  /** Sends, cancels the send meanwhile, and tells the receiver under another tag whether the cancellation succeeded. */
  | { readonly kind: "race-send"; readonly message: number; readonly verdictTag: number; readonly afterNs: number }
  | { readonly kind: "race-answer"; readonly receive: number; readonly verdictTag: number };

/** How a member calls the function that makes a communicator. */
export type Making =
  | { readonly by: "duplicate"; readonly parent: number }
  /** MPI_Comm_shrink, where no death reaches the program: all members are in it. */
  | { readonly by: "shrink"; readonly parent: number }
  | { readonly by: "split"; readonly parent: number; readonly color: number | null; readonly key: number }
  | { readonly by: "create"; readonly parent: number; readonly members: readonly number[] }
  /** Only the members call. */
  | { readonly by: "create-group"; readonly parent: number; readonly members: readonly number[]; readonly tag: number }
  | {
      readonly by: "create-inter";
      readonly local: number;
      readonly leader: number;
      readonly bridge: number;
      readonly remoteLeader: number;
      readonly tag: number;
    }
  | { readonly by: "merge"; readonly parent: number; readonly high: boolean };

export interface Script {
  readonly ranks: number;
  readonly communicators: readonly CommunicatorPlan[];
  readonly messages: readonly MessagePlan[];
  readonly receives: readonly ReceivePlan[];
  readonly collectives: readonly CollectivePlan[];
  readonly sharedFiles: readonly SharedFilePlan[];
  /** By world rank. */
  readonly actions: readonly (readonly Action[])[];
}
