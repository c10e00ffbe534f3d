/** Services of a job, each a process of its own with a channel to the dispatcher. */
import { type ChildProcess, fork } from "node:child_process";
import { withoutLateVariables } from "./late-variables.ts";

/** `file`: its bundle. */
export function forkService(file: string, args: readonly string[] = []): ChildProcess {
  return fork(file, args, {
    // A group of its own: the terminal's signals are the dispatcher's business.
    detached: true,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // Not the options of the process that calls `launch`: they may be a debugger's or a test runner's.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    env: withoutLateVariables(process.env),
  });
}
