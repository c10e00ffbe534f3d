/**
 * The end of a process: a barrier of its world, and for one that a spawn has connected to others their farewells (MPI 5.0 §11.2.2).
 * Where a member of the world is dead the barrier fails, and those that live agree that all of them have come (ULFM): an agreement ends whoever
 * dies. A process that got through the barrier answers them, because it knows that all have come.
 *
 * Each process says farewell once to each one of the other side, when it disconnects or at the very end, and waits for theirs
 * at the end only. So no process waits for ever for a side that has disconnected alone, as it should not.
 */
import type { Pointer, RecordId, WorldRank } from "../../base/brand.ts";
import { saves } from "../../base/saved-classes.ts";
import type { Group } from "../../comm/group.ts";
import type { Engine } from "../../p2p/engine.ts";
import { R_ERROR, SendMode } from "../../request/records.ts";
import type { Agreement } from "../agreement.ts";
import type { Agreements } from "../agreements.ts";
import { collectiveContext, finalContext } from "../context.ts";
import { Task, type TaskHost } from "../task.ts";
import { finalTag } from "./task-tags.ts";

const nothing = 0 as Pointer;

export function sayFarewell(engine: Engine, context: number, others: Group): void {
  const at = collectiveContext(context);
  for (const other of others.worldRanks()) {
    engine.abandon(engine.startSend(nothing, 0, other, finalTag, at, SendMode.STANDARD));
  }
}

/** The parts of a process that its end uses. */
interface EndingProcess extends TaskHost {
  readonly agreements: Agreements;
}

export class FinalMeeting extends Task {
  private readonly world: Group;
  /** The barrier of the world; −1: it is over. */
  private barrier: RecordId;
  private agreement: Agreement | null = null;
  /** The farewells of the others. */
  private readonly requests: RecordId[] = [];

  /** `connections`: the other sides by their contexts. */
  constructor(world: Group, barrier: RecordId, connections: ReadonlyMap<number, Group>, engine: Engine) {
    super();
    this.world = world;
    this.barrier = barrier;
    for (const [context, others] of connections) {
      sayFarewell(engine, context, others);
      for (const other of others.worldRanks()) this.requests.push(farewellOf(engine, context, other));
    }
  }

  /** Farewells of the dead end with an error, which is ignored: there is no program left to hear of it. */
  override advance({ engine, agreements }: EndingProcess): boolean {
    if (this.barrier >= 0) {
      if (!engine.isComplete(this.barrier)) return false;
      const error = engine.records.get(this.barrier, R_ERROR);
      engine.giveBack(this.barrier);
      this.barrier = -1 as RecordId;
      if (error === 0) agreements.conclude(finalContext, this.world, 0);
      else this.agreement = agreements.begin(finalContext, this.world, 0, { flags: 0, acknowledged: 0 }, true);
    }
    if (this.agreement !== null && agreements.verdictOf(this.agreement) === null) return false;
    if (!this.requests.every((request) => engine.isComplete(request))) return false;
    for (const request of this.requests) engine.giveBack(request);
    return true;
  }
}

function farewellOf(engine: Engine, context: number, other: WorldRank): RecordId {
  return engine.startReceive(nothing, 0, other, finalTag, collectiveContext(context));
}

saves({ FinalMeeting });
