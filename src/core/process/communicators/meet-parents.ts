import { saves } from "../../base/saved-classes.ts";
import { Group } from "../../comm/group.ts";
import { spawnSeed } from "../context.ts";
import type { Process } from "../process.ts";
import type { Origin } from "../spawner.ts";
import { sayFarewell } from "./final-meeting.ts";
import { inCommonOrder } from "./member-order.ts";
import { NewCommunicator, noContext } from "./new-communicator.ts";

/** The children's part of MPI_Comm_spawn, in their MPI_Init: they know all members from the start, and agree. */
export class MeetParents extends NewCommunicator {
  private readonly children: Group;
  private readonly parents: Group;
  private readonly seed: number;
  private readonly count: number;

  constructor({ world, parents, context, count }: Origin) {
    super();
    this.children = Group.of(world);
    this.parents = Group.of(parents);
    this.seed = spawnSeed(context, world[0]!);
    this.count = count;
  }

  override advance(process: Process): boolean {
    const isOver = this.agree(process, inCommonOrder(this.parents, this.children), null, this.count, this.seed);
    if (this.result !== null) process.connect(this.result);
    // Parents that got through wait for a farewell at their end.
    else if (isOver && this.lastContext !== noContext) sayFarewell(process.engine, this.lastContext, this.parents);
    return isOver;
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.children, remote: this.parents };
  }
}

saves({ MeetParents });
