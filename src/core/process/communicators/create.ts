import type { WorldRank } from "../../base/brand.ts";
import { saves } from "../../base/saved-classes.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import { NewCommunicator } from "./new-communicator.ts";

/** MPI_Comm_create (collective over the parent, of which the members are a part). */
export class Create extends NewCommunicator {
  private readonly parent: Communicator;
  private readonly members: Group;
  private readonly count: number;

  constructor(parent: Communicator, members: Group) {
    super();
    this.parent = parent;
    this.members = members;
    this.count = parent.children++;
  }

  override advance(process: Process): boolean {
    if (!this.members.has(process.rank as WorldRank)) return true;
    return this.agree(process, this.members, this.parent, this.count);
  }
}

saves({ Create });
