/** What was seen while a script ran: facts only, judged by the checkers. */
export interface Receipt {
  readonly receive: number;
  /** Posting order in its process. */
  readonly posted: number;
  /** The message it took, by number; −1: cannot be told. */
  readonly message: number;
  /** As the status said; the source is the rank in the communicator. */
  readonly source: number;
  readonly tag: number;
  readonly bytes: number;
  readonly error: number;
  /** First byte that is not the message's, or −1. */
  readonly wrongByte: number;
  /** What a probe said before, if there was one. */
  readonly probed: { readonly source: number; readonly tag: number; readonly bytes: number } | null;
}

export interface Ended {
  readonly rank: number;
  readonly what: string;
  readonly error: number;
  readonly cancelled: boolean;
  readonly wantedCancelled: boolean;
}

export interface CollectiveResult {
  readonly collective: number;
  /** In the communicator. */
  readonly rank: number;
  readonly error: number;
  /** What lies in the receive buffer, as words; empty where the collective leaves nothing. */
  readonly words: Int32Array;
}

export interface MadeCommunicator {
  readonly communicator: number;
  /** World rank of the member. */
  readonly member: number;
  readonly rank: number;
  readonly size: number;
  readonly context: number;
}

export class Observation {
  readonly receipts: Receipt[] = [];
  /** Sends and cancelled requests. */
  readonly ended: Ended[] = [];
  readonly collectives: CollectiveResult[] = [];
  readonly communicators: MadeCommunicator[] = [];
}
