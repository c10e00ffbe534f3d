/**
 * The posted receives of the program: which were cancelled, and, unless messages come to every life in one order, which message each
 * from any source took, goes into the log; a life that replays gives each the message that it took. The record's word for protocols: 0, or
 * twice the number of the receive, counted from 1, and 1 where the message is recorded.
 */
import type { RecordId, WorldRank } from "../../base/brand.ts";
import { ANY_SOURCE } from "../../base/constants.ts";
import { lives } from "../../base/saved-classes.ts";
import { Pin } from "../../request/decisions.ts";
import { R_PEER, R_PROTOCOL, R_SEQUENCE, RecordFlag, type Records } from "../../request/records.ts";
import type { DeterminantLog } from "./determinant-log.ts";
import { DeterminantKind } from "./determinant-stream.ts";
import type { Replay } from "./replay.ts";

export class LoggedReceives {
  private readonly records: Records;
  private readonly log: DeterminantLog;
  private readonly replay: Replay;
  /** Otherwise all lives are given their messages in the same order, from which it follows which message a receive takes. */
  private readonly recordsMatches: boolean;

  constructor(records: Records, log: DeterminantLog, replay: Replay, recordsMatches: boolean) {
    this.recordsMatches = recordsMatches;
    this.records = records;
    this.log = log;
    this.replay = replay;
  }

  posted(receive: RecordId, number: number): Pin {
    const { records } = this;
    const isRecorded = this.recordsMatches && records.get(receive, R_PEER) === ANY_SOURCE;
    records.put(receive, R_PROTOCOL, 2 * number + (isRecorded ? 1 : 0));
    return this.replay.isOver ? Pin.FREE : this.pinOf(receive);
  }

  /** How a posted receive is matched, as far as its life before has seen. */
  pinOf(receive: RecordId): Pin {
    const { records, replay } = this;
    const word = records.get(receive, R_PROTOCOL);
    if (replay.takeCancelled(word >> 1)) return Pin.NOTHING;
    const match = (word & 1) === 0 ? undefined : replay.takeMatch(word >> 1);
    if (match === undefined) return Pin.FREE;
    records.put(receive, R_PEER, match.source);
    records.put(receive, R_SEQUENCE, match.sequence);
    return Pin.MESSAGE;
  }

  matched(receive: RecordId, source: WorldRank, sequence: number): void {
    const { records } = this;
    const word = records.get(receive, R_PROTOCOL);
    if ((word & 1) === 0 || records.hasFlag(receive, RecordFlag.PINNED)) return;
    this.log.append3(DeterminantKind.MATCH, word >> 1, source, sequence);
  }

  /** A pinned receive is cancelled or not as in the life before. The choice of a receive from any source was recorded with its message. */
  cancelling(receive: RecordId, isMatched: boolean): boolean {
    const { records, log } = this;
    const word = records.get(receive, R_PROTOCOL);
    const number = word >> 1;
    if (number === 0 || records.hasFlag(receive, RecordFlag.PINNED)) return true;
    if (this.replay.takeCame(number)) return false;
    if (!isMatched) log.append(DeterminantKind.CANCELLED, [number]);
    else if ((word & 1) === 0) log.append(DeterminantKind.CAME, [number]);
    return true;
  }
}

lives({ LoggedReceives });
