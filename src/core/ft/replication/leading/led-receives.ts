/**
 * Receives of a program whose replicas follow a leader. The leader's take what comes, and which message each from any source took is a
 * decision. Those of a follower stand still until they are told. The record's word for protocols: twice the number of the receive,
 * counted from 1, and 1 for any source.
 */
import type { RecordId, WorldRank } from "../../../base/brand.ts";
import { ANY_SOURCE } from "../../../base/constants.ts";
import { lives } from "../../../base/saved-classes.ts";
import { Pin } from "../../../request/decisions.ts";
import {
  R_KIND,
  R_PEER,
  R_PROTOCOL,
  R_SEQUENCE,
  RecordFlag,
  RecordKind,
  type Records,
} from "../../../request/records.ts";
import { DeterminantKind } from "../../determinants/determinant-stream.ts";
import type { DecisionLog } from "./decision-log.ts";
import type { LedChoices } from "./led-choices.ts";
import type { ToldDecisions } from "./told-decisions.ts";

interface LedReceivesParts {
  readonly log: DecisionLog;
  readonly told: ToldDecisions;
  readonly choices: LedChoices;
}

export class LedReceives {
  private readonly records: Records;
  private readonly log: DecisionLog;
  private readonly told: ToldDecisions;
  private readonly choices: LedChoices;
  private posted = 0;
  /** Do receives wait to be told? */
  areWaiting = false;

  constructor(records: Records, { log, told, choices }: LedReceivesParts) {
    this.records = records;
    this.log = log;
    this.told = told;
    this.choices = choices;
  }

  post(receive: RecordId): Pin {
    const { records } = this;
    const isAnySource = records.get(receive, R_PEER) === ANY_SOURCE;
    records.put(receive, R_PROTOCOL, 2 * ++this.posted + (isAnySource ? 1 : 0));
    return this.pinOf(receive);
  }

  pinOf(receive: RecordId): Pin {
    const { records, told, log } = this;
    const word = records.get(receive, R_PROTOCOL);
    if ((word & 1) === 0) return Pin.FREE;
    const match = told.takeMatch(word >> 1);
    if (match !== undefined) {
      log.passed++;
      records.put(receive, R_PEER, match.source);
      records.put(receive, R_SEQUENCE, match.sequence);
      return Pin.MESSAGE;
    }
    if (log.leads) return Pin.FREE;
    this.areWaiting = true;
    return Pin.LATER;
  }

  matched(receive: RecordId, source: WorldRank, sequence: number): void {
    const { records } = this;
    const word = records.get(receive, R_PROTOCOL);
    if ((word & 1) === 0 || records.hasFlag(receive, RecordFlag.PINNED)) return;
    this.choices.decide([DeterminantKind.MATCH, word >> 1, source, sequence]);
  }

  /** May the program's wish to cancel be heard? */
  mayCancel(receive: RecordId): boolean {
    const { records } = this;
    if (records.get(receive, R_KIND) !== RecordKind.RECEIVE) return true;
    const word = records.get(receive, R_PROTOCOL);
    // A receive that is bound to its message will have it.
    return word === 0 || records.hasFlag(receive, RecordFlag.PINNED) || this.choices.mayCancel(word >> 1);
  }

  cancelling(receive: RecordId, isMatched: boolean): boolean {
    const { records, told, log } = this;
    const word = records.get(receive, R_PROTOCOL);
    const number = word >> 1;
    if (number === 0 || records.hasFlag(receive, RecordFlag.PINNED)) return true;
    if (told.takeCancelled(number)) {
      log.passed++;
      if (isMatched) {
        throw new Error(
          `Cannot follow the leader: the leading replica cancelled receive ${number}, whose message had come here; ` +
            "under --replication leader, cancel no receive from a named source that a message may be on its way to",
        );
      }
      return true;
    }
    if (told.takeCame(number)) {
      log.passed++;
      return false;
    }
    if (!isMatched) this.choices.decide([DeterminantKind.CANCELLED, number]);
    else if ((word & 1) === 0) this.choices.decide([DeterminantKind.CAME, number]);
    return true;
  }
}

lives({ LedReceives });
