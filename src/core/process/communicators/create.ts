import type { WorldRank } from "../../base/brand.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
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
    this.count = parent.nextCollective(kindCode.comm_create, unlike, unlike);
  }

  override get creation(): Creation {
    return { comm: this.parent, number: this.count, kind: kindCode.comm_create };
  }

  override advance(process: Process): boolean {
    if (!this.members.has(process.rank as WorldRank)) return true;
    return this.agree(process, this.members, this.parent, this.count, this.parent.context);
  }
}

saves({ Create });
