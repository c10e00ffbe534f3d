/** `banyan checkpoint`: a signal makes a running job take checkpoints of all its sets now. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { CommandError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { checkpointSignal } from "./follow-job.ts";

export const checkpointCommand: CreateCommand = (finished) =>
  new Command("checkpoint")
    .description(
      `Have a job whose protocol takes checkpoints take them now, as \`kill -${checkpointSignal.slice(3)}\` of its process does.`,
    )
    .argument("<pid>", "process of the `banyan run`")
    .helpOption("-h, --help", "print this help")
    .action((pid: string) => {
      tell(pid);
      finished(0);
    });

function tell(text: string): void {
  const pid = Number(text);
  if (!Number.isInteger(pid) || pid <= 1 || !isJob(pid)) {
    throw new CommandError(`Cannot reach job ${text}: give the process id of a \`banyan run\` that is running`, 1);
  }
  process.kill(pid, checkpointSignal);
}

/** Only a job handles the signal: any other process would be killed by it. */
function isJob(pid: number): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    if (words.some((word) => /(^|\/)(mpirun|mpirun\.js|mpiexec)$/.test(word))) return true;
    return words.some((word) => /(^|\/)(banyan|banyan\.js|cli\.cjs)$/.test(word)) && words.includes("run");
  } catch {
    return false;
  }
}
