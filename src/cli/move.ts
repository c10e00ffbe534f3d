/** `banyan move`: the ranks of a node go on elsewhere, and the node goes. */
import { Command } from "commander";
import { CommandError } from "./complain.ts";
import type { CreateCommand } from "./create-command.ts";
import { askJob } from "./job-door.ts";
import { wholeNumber } from "./whole-number.ts";

interface MoveOptions {
  readonly drain: number;
}

export const moveCommand: CreateCommand = (finished) =>
  new Command("move")
    .description(
      "Have the ranks of a node go on elsewhere, before its machine goes: a spare takes its place, and clones of other replicas theirs. For jobs that were started with --sustain and --spares; SIGTERM to the node does the same.",
    )
    .argument("<job>", "process of its `banyan run`, as `banyan ps` shows it")
    .requiredOption("--drain <node>", "the node", wholeNumber("--drain"))
    .helpOption("-h, --help", "print this help")
    .action(async (job: string, { drain }: MoveOptions) => {
      const pid = /^\d+$/.test(job) ? Number(job) : Number.NaN;
      const answer = Number.isNaN(pid) ? undefined : await askJob(pid, `drain ${drain}`);
      if (answer === undefined)
        throw new CommandError(`Cannot find job ${job}: banyan ps lists the jobs that are running`, 1);
      if (answer.obstacle !== "") throw new CommandError(`Cannot drain node ${drain}: ${answer.obstacle}`, 1);
      finished(0);
    });
