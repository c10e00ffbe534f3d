/** The choices of a rank under channel memories: those of earlier lives are known when the home memory has told them all. */
import { lives } from "../../../base/saved-classes.ts";
import { LoggedChoices } from "../../determinants/logged-choices.ts";

export class ReplayedChoices extends LoggedChoices {
  static override readonly unsaved = { ...LoggedChoices.unsaved, isKnown: true };
  isKnown = true;

  override get isReady(): boolean {
    return this.isKnown;
  }
}

lives({ ReplayedChoices });
