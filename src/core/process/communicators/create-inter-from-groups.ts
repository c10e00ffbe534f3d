import { saves } from "../../base/saved-classes.ts";
import type { Group } from "../../comm/group.ts";
import type { Process } from "../process.ts";
import { CreateGroup } from "./create-group.ts";
import { CreateInter } from "./create-inter.ts";
import { NewCommunicator } from "./new-communicator.ts";

/**
 * MPI_Intercomm_create_from_groups: each group makes a communicator of its own, over which its leader, which has talked to the
 * other leader, tells the members; that communicator is freed again.
 */
export class CreateInterFromGroups extends NewCommunicator {
  private readonly inside: CreateGroup;
  private readonly leader: number;
  private readonly remoteLeader: number;
  private readonly tag: number;
  private between: CreateInter | null = null;

  /** `leader` is a rank in `group`, `remoteLeader` one in the world; only the leader knows it. */
  constructor(group: Group, leader: number, remoteLeader: number, tag: number, process: Process) {
    super();
    this.inside = new CreateGroup(process.everybody, group, tag, process);
    this.leader = leader;
    this.remoteLeader = remoteLeader;
    this.tag = tag;
  }

  override advance(process: Process): boolean {
    if (this.between === null) {
      if (!this.inside.advance(process)) return false;
      this.error = this.inside.error;
      if (this.error !== 0) return true;
      const local = this.inside.result!;
      this.between = new CreateInter(local, this.leader, process.everybody, this.remoteLeader, this.tag);
    }
    if (!this.between.advance(process)) return false;
    this.error = this.between.error;
    this.result = this.between.result;
    process.freeCommunicator(this.inside.result!);
    return true;
  }
}

saves({ CreateInterFromGroups });
