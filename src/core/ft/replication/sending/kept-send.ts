/**
 * A message from its posting until every living replica of its receiver has it. One that has to be sent again is sent from here: from
 * the program's own buffer as long as the program's send is not complete, otherwise from a copy.
 */
import type { Pointer, RecordId } from "../../../base/brand.ts";
import { saves } from "../../../base/saved-classes.ts";
import type { KeptMessage } from "../../../request/decisions.ts";
import type { Past, Strand } from "../strands.ts";

export const noSend = -1 as RecordId;

/** Used again for later messages: nothing is allocated for a message. */
export class KeptSend implements KeptMessage, Past {
  dest = 0;
  /** Of its receiver: the one that it is put on its way to. */
  replica = 0;
  /** A substitute speaks for itself: its receiver knows ranks and numbers, whoever sends. */
  readonly from = null;
  context = 0;
  tag = 0;
  bytes = 0;
  sequence = 0;
  isSynchronous = false;
  /** What it depends on: how many messages the program had seen when it posted this one (seen-order.ts), or started the collective that did. */
  position = 0;
  strand: Strand | null = null;
  taken = 0;
  pointer = 0 as Pointer;
  /** Its bytes stay where they are as long as a receiver may read them. */
  readonly isLent = true;
  /** The program's request, if that is not complete. */
  send: RecordId = noSend;
  /** `pointer` is a copy of our own. */
  isCopy = false;
  /** Bits: the replicas of the receiver that have all of it, those that it has been announced to. */
  has = 0;
  announced = 0;
  /** Bits: the replicas that all of it was put on its way to. Those of them that are not in `has` have still to confirm it. */
  went = 0;
  /** Bits: the replicas that have asked for it again, and are still to answer an announcement of it. */
  wished = 0;
  /** How many decisions had been made when it was sent, and has it waited for them (`leading/leader-sends.ts`)? */
  ticket = 0;
  isDelayed = false;
  /** What this process says of it, where replicas compare messages: two words of a packet (`comparing/sent-votes.ts`). */
  voteFirst = 0;
  voteBytes = 0;
  /** Nobody needs it any more. It stays in its place until those before it are gone as well. */
  isOver = false;
}

saves({ KeptSend });
