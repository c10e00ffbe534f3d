import type { CommRank } from "../../base/brand.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode } from "../../coll/engine/collective-call.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { AwaitedPeers } from "../task.ts";
import { draftOf } from "./draft.ts";
import { NewCommunicator } from "./new-communicator.ts";
import { groupTag } from "./task-tags.ts";
import { WordExchange } from "./word-exchange.ts";

/** MPI_Comm_create_group: only the members take part, so they have a counter of their own, and agree on it first. */
export class CreateGroup extends NewCommunicator {
  private readonly parent: Communicator;
  private readonly members: Group;
  private readonly tag: number;
  private readonly exchange: WordExchange;
  private count = -1;

  constructor(parent: Communicator, members: Group, tag: number, process: Process) {
    super();
    this.parent = parent;
    this.members = members;
    this.tag = tag;
    parent.beginPartial(members.worldRanks());
    const draft = draftOf(process, parent.context, members);
    this.exchange = new WordExchange(draft, [parent.groupChildren], groupTag(tag));
  }

  override get awaited(): AwaitedPeers {
    const { parent: comm, members, tag } = this;
    return { comm, tag: groupTag(tag), peers: members.worldRanks(), kind: kindCode.comm_create_group };
  }

  /** The exchange is an operation, which is given up. */
  override abandon(): void {}

  override advance(process: Process): boolean {
    if (this.count < 0) {
      const counts = this.exchange.advance(process);
      if (counts === null) return false;
      this.error = this.exchange.error;
      if (this.error !== 0) return true;
      this.count = Math.max(...counts);
      this.parent.groupChildren = Math.max(this.parent.groupChildren, this.count + 1);
    }
    // The group's first member and the tag keep apart what several groups of one parent make at the same time.
    const salt = Math.imul(this.members.worldRank(0 as CommRank) + 1, 0x9e3779b1) ^ this.tag;
    return this.agree(process, this.members, this.parent, this.count, this.parent.context ^ salt);
  }
}

saves({ CreateGroup });
