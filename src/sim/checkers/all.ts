/** Every invariant, in the order in which their violations explain each other. */
import type { Checker } from "./checker.ts";
import { collectivesRight } from "./collectives-right.ts";
import { communicatorsRight } from "./communicators-right.ts";
import { contentsRight } from "./contents-right.ts";
import { filesRight } from "./files-right.ts";
import { historiesAgree } from "./histories-agree.ts";
import { hooksCalled } from "./hooks-called.ts";
import { inputRight } from "./input-right.ts";
import { nobodyStuck } from "./nobody-stuck.ts";
import { nonOvertaking } from "./non-overtaking.ts";
import { nothingLeft } from "./nothing-left.ts";
import { printedOnce } from "./printed-once.ts";
import { receivedOnce } from "./received-once.ts";
import { requestsEnded } from "./requests-ended.ts";
import { sharedFilesRight } from "./shared-files-right.ts";
import { statusesRight } from "./statuses-right.ts";
import { synchronousWaits } from "./synchronous-waits.ts";

export const checkers: readonly Checker[] = [
  statusesRight,
  contentsRight,
  nonOvertaking,
  receivedOnce,
  requestsEnded,
  synchronousWaits,
  historiesAgree,
  collectivesRight,
  communicatorsRight,
  hooksCalled,
  printedOnce,
  filesRight,
  sharedFilesRight,
  inputRight,
  nobodyStuck,
  nothingLeft,
];
