/**
 * Records what a rank of a real job sends, and holds its messages back for a while, so that messages of other ranks overtake them. Time
 * is counted in steps of progress. Run 0 holds nothing back; in run 1 low ranks are late; in all others the seed decides.
 * Messages of a channel stay in order.
 */
import type { RecordId } from "../../base/brand.ts";
import { lives } from "../../base/saved-classes.ts";
import { SeededRandom } from "../../base/seeded-random.ts";
import { R_PEER, R_PROTOCOL } from "../../request/records.ts";
import type { ProtocolPorts } from "../protocol.ts";
import { SendLog } from "./send-log.ts";
import { SendRecorder } from "./send-recorder.ts";

export interface RecordedRunNumbers {
  readonly run: number;
  readonly seed: number;
}

/** Messages of a rank that are kept: 32 MB of words. */
const entriesMax = 1 << 20;
/** How far two neighbours in the order of ranks are apart, and all together at most. */
const stepMax = 400;
const spreadMax = 8_000;

const nobody = { call: () => -1, order: () => -1 };

export class DelayedRecorder extends SendRecorder {
  static override readonly unsaved = { witness: null };
  private readonly random: SeededRandom;
  /** Every message of this rank is held back so long. */
  private readonly delay: number;
  /** And by a chance of so much at most. */
  private readonly jitter: number;
  private progresses = 0;
  private lastDue = 0;
  /** By destination: when the message before may leave. */
  private readonly due = new Map<number, number>();

  constructor(ports: ProtocolPorts, { run, seed }: RecordedRunNumbers) {
    super(ports, new SendLog(entriesMax), nobody);
    this.random = SeededRandom.ofRank(seed + run, ports.rank);
    const step = Math.min(stepMax, spreadMax / ports.ranks);
    const place = run === 1 ? ports.ranks - 1 - ports.rank : Math.floor(this.random.fraction() * ports.ranks);
    this.delay = run === 0 ? 0 : Math.floor(place * step);
    this.jitter = run < 2 ? 0 : Math.floor(this.random.fraction() * stepMax);
  }

  override sendPosted(send: RecordId): boolean {
    const { records } = this.ports;
    const dest = records.get(send, R_PEER);
    const wanted = this.progresses + this.delay + Math.floor(this.random.fraction() * this.jitter);
    const due = Math.max(wanted, this.due.get(dest) ?? 0);
    this.due.set(dest, due);
    this.lastDue = Math.max(this.lastDue, due);
    records.put(send, R_PROTOCOL, due);
    return super.sendPosted(send);
  }

  override sendMayLeave(send: RecordId): boolean {
    return this.progresses >= this.ports.records.get(send, R_PROTOCOL);
  }

  override get isBusy(): boolean {
    return this.progresses < this.lastDue;
  }

  override progress(): boolean {
    if (!this.isBusy) return false;
    this.progresses++;
    return true;
  }
}

lives({ DelayedRecorder });
