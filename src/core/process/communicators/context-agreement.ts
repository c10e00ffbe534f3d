/**
 * The members of a new communicator agree on its context (../context.ts), and on the board they share if they are all on one
 * node.
 *
 * They talk in the candidate context itself, under a tag that no collective uses. Should some of them know the candidate
 * already as another communicator's, messages cannot be mixed up for that, the members say so, and all of them take the
 * next candidate. Usually one small allgather is all.
 */
import type { Pointer, RecordId } from "../../base/brand.ts";
import { ErrorClass } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import { Phase } from "../../coll/engine/operation.ts";
import type { Group } from "../../comm/group.ts";
import { R_ERROR } from "../../request/records.ts";
import type { Communicator } from "../communicator.ts";
import { contextCandidate } from "../context.ts";
import type { Process } from "../process.ts";
import { draftOf } from "./draft.ts";
import { agreementTag } from "./task-tags.ts";

/** Words of each member: does it know the candidate, and which board has it claimed for all. */
const words = 2;

interface Agreed {
  readonly context: number;
  readonly board: number;
  readonly error: number;
}

export class ContextAgreement {
  private readonly group: Group;
  private readonly parent: number;
  private readonly count: number;
  private readonly wantsBoard: boolean;
  private attempt = 0;
  /** By its name, see `Process.nameOfBoard`. */
  private board = -1;
  private draft: Communicator | null = null;
  private request = -1 as RecordId;
  private buffer = 0 as Pointer;

  /** `parent` and `count` are equal on all members; `group` has all processes that must agree, in an order all know. */
  constructor(group: Group, parent: number, count: number, wantsBoard: boolean) {
    this.group = group;
    this.parent = parent;
    this.count = count;
    this.wantsBoard = wantsBoard;
  }

  /** Is it by this communicator, which is not there yet, that the members talk now? */
  talksIn(comm: Communicator): boolean {
    return this.draft === comm;
  }

  advance(process: Process): Agreed | null {
    for (;;) {
      if (this.request < 0) this.ask(process);
      const { engine, memory } = process;
      if (!engine.isComplete(this.request)) return null;
      const error = engine.records.get(this.request, R_ERROR);
      engine.giveBack(this.request);
      this.request = -1 as RecordId;
      const answers = new Int32Array(memory.bytes.buffer, this.buffer, this.group.size * words).slice();
      memory.free(this.buffer);
      const draft = this.draft!;
      process.collectives.forget(draft);
      if (error !== 0) return { context: 0, board: -1, error };
      let known = false;
      for (let member = 0; member < this.group.size; member++) known ||= answers[member * words] !== 0;
      if (!known) return { context: draft.context, board: process.boardNamed(answers[1]!), error: 0 };
      this.attempt++;
    }
  }

  /** The communicator that it comes from is revoked: no member shall wait for us, nor use what others may have made of it. */
  giveUp(process: Process): void {
    this.draft ??= this.newDraft(process);
    process.revocations.revoke(this.draft, true);
  }

  /** A process is dead with which members have talked before, and they may have given up. Each of them hears of it by itself. */
  peerFailed({ collectives }: Process): void {
    const operation = collectives.operations.find(({ request }) => request === this.request);
    if (operation?.phase === Phase.RUNNING) collectives.giveUp(operation, ErrorClass.PROC_FAILED);
  }

  /** The context by which the members talk, or have talked last. */
  get context(): number {
    return contextCandidate(this.parent, this.count, this.attempt);
  }

  private newDraft(process: Process): Communicator {
    return draftOf(process, this.context, this.group);
  }

  private ask(process: Process): void {
    const draft = this.newDraft(process);
    const { context } = draft;
    this.draft = draft;
    // A member has given up before we came.
    if (process.revocations.has(context)) process.revocations.revoke(draft, true);
    this.claimBoard(process, draft);
    const bytes = words * 4;
    this.buffer = process.memory.allocate(bytes * draft.size);
    const own = new Int32Array(process.memory.bytes.buffer, this.buffer + draft.rank * bytes, words);
    own[0] = process.isKnownContext(context) ? 1 : 0;
    own[1] = this.board;
    this.request = process.collectives.startAgreement(draft, this.buffer, bytes, agreementTag);
  }

  /** The first member claims a board for all, if they are more than one and `Process.mayShareBoard`. */
  private claimBoard(process: Process, draft: Communicator): void {
    if (!this.wantsBoard || draft.rank !== 0 || draft.size === 1 || !process.mayShareBoard(draft)) return;
    if (process.boardNamed(this.board) < 0) this.board = process.nameOfBoard(process.claimBoard(draft.size));
  }
}

saves({ ContextAgreement });
