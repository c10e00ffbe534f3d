import type { WorldRank } from "../../base/brand.ts";
import type { ErrorCode } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import type { Group } from "../../comm/group.ts";
import type { Process } from "../process.ts";
import type { AwaitedPeers } from "../task.ts";
import { CreateGroup } from "./create-group.ts";
import { CreateInter, refuseOtherSide } from "./create-inter.ts";
import { NewCommunicator } from "./new-communicator.ts";
import { WordBroadcast } from "./word-broadcast.ts";

/** The other group, as the leader of this one sees it. */
export type OtherGroup =
  | { readonly kind: "leader"; readonly rank: number }
  | { readonly kind: "empty" }
  | { readonly kind: "refused"; readonly error: number };

/** A verdict: there is nothing to make. Error classes are positive. */
const EMPTY = -1;

/**
 * MPI_Intercomm_create_from_groups: each group makes a communicator of its own. Over it the leader, the only one that was given the
 * other group, first tells its verdict on that group, so that no member waits when the leader refuses; then the answer of
 * the other leader. That communicator is freed again.
 */
export class CreateInterFromGroups extends NewCommunicator {
  private readonly inside: CreateGroup;
  private readonly leader: number;
  private readonly leads: boolean;
  private readonly remoteLeader: number;
  private readonly tag: number;
  /** 0, EMPTY or an error; what the others have here counts for nothing. */
  private readonly verdict: number;
  private telling: WordBroadcast | null = null;
  private between: CreateInter | null = null;

  /** `leader` is a rank in `group`, that of the other group one in the world; null where this process does not lead. */
  constructor(group: Group, leader: number, other: OtherGroup | null, tag: number, process: Process) {
    super();
    this.inside = new CreateGroup(process.everybody, group, tag, process);
    this.leader = leader;
    this.leads = other !== null;
    this.remoteLeader = other?.kind === "leader" ? other.rank : 0;
    this.verdict = other?.kind === "refused" ? other.error : other?.kind === "empty" ? EMPTY : 0;
    this.tag = tag;
  }

  override get awaited(): AwaitedPeers | null {
    return this.between === null ? (this.telling === null ? this.inside.awaited : null) : this.between.awaited;
  }

  override isAwaiting(process: Process): boolean {
    return (this.between ?? this.inside).isAwaiting(process);
  }

  override abandon(process: Process, error: ErrorCode): void {
    this.between?.abandon(process, error);
  }

  override callOff(process: Process, error: ErrorCode): void {
    this.error = error;
    this.leave(process);
  }

  override advance(process: Process): boolean {
    if (this.telling === null) {
      if (!this.inside.advance(process)) return false;
      this.error = this.inside.error;
      if (this.error !== 0) return this.leave(process);
      this.telling = new WordBroadcast(this.inside.result!, this.leader, Int32Array.of(this.verdict));
    }
    if (this.between === null) {
      const verdict = this.telling.advance(process)?.[0];
      if (verdict === undefined) return false;
      const local = this.inside.result!;
      this.error = this.telling.error || Math.max(0, verdict);
      if (this.error !== 0 || verdict === EMPTY) {
        process.freeCommunicator(local);
        return this.leave(process);
      }
      this.between = new CreateInter(local, this.leader, process.everybody, this.remoteLeader, this.tag);
    }
    if (!this.between.advance(process)) return false;
    this.error = this.between.error;
    this.result = this.between.result;
    process.freeCommunicator(this.inside.result!);
    return true;
  }

  /** Without this group: the other leader, if there is one, need not wait for ours. */
  private leave(process: Process): boolean {
    if (this.error !== 0 && this.leads && this.verdict === 0) {
      // The other leader's call is one that the two have in common.
      process.everybody.beginPartial([this.remoteLeader, process.rank] as WorldRank[]);
      refuseOtherSide(process, process.everybody, this.remoteLeader, this.tag);
    }
    return true;
  }
}

saves({ CreateInterFromGroups });
