/** The choices of a logged process: recorded as they are made, given again in replay. */
import { lives } from "../../base/saved-classes.ts";
import { ChoiceKind, type Choices } from "../choices.ts";
import type { DeterminantLog } from "./determinant-log.ts";
import { DeterminantKind } from "./determinant-stream.ts";
import type { Replay } from "./replay.ts";

export class LoggedChoices implements Choices {
  private readonly log: DeterminantLog;
  private readonly replayed: Replay;

  constructor(log: DeterminantLog, replay: Replay) {
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
    this.log.nothing(kind === ChoiceKind.FILE);
  }
}

lives({ LoggedChoices });
