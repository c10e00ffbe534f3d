/** The choices of a logged process: recorded as they are made, given again in replay. */
import { lives } from "../../base/saved-classes.ts";
import { ChoiceKind, type Choices } from "../choices.ts";
import type { PassedCalls } from "../protocol.ts";
import type { DeterminantLog } from "./determinant-log.ts";
import { DeterminantKind } from "./determinant-stream.ts";
import type { Replay } from "./replay.ts";

export class LoggedChoices implements Choices {
  static readonly unsaved = { pass: null };
  private readonly log: DeterminantLog;
  private readonly replayed: Replay;
  private readonly pass: PassedCalls | null;

  /** `pass`: of a process that may have a data plane. */
  constructor(log: DeterminantLog, replay: Replay, pass: PassedCalls | null = null) {
    this.pass = pass;
    this.log = log;
    this.replayed = replay;
  }

  /** The choices of earlier lives are there when a life begins. */
  get isReady(): boolean {
    return true;
  }

  replay(kind: ChoiceKind): readonly number[] | null | undefined {
    return this.replayed.takeChoice(kind);
  }

  made(kind: ChoiceKind, outcome: readonly number[]): void {
    this.log.append(DeterminantKind.CHOICE, [kind, ...outcome]);
  }

  nothing(kind: ChoiceKind): void {
    // The next message closes the run, which a data plane does not know.
    this.pass?.close();
    this.log.nothing(kind === ChoiceKind.FILE);
  }
}

lives({ LoggedChoices });
