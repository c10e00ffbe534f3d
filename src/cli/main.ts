/** `banyan`: finds the command, loads it and runs it. */
import { existsSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { commands } from "./commands.ts";
import { CommandError, complain, UsageError } from "./complain.ts";
import { shellWord } from "./shell-word.ts";

async function main(): Promise<number> {
  const program = new Command("banyan")
    .description("Runs MPI programs as threads of Node.js, on nodes that may fail.")
    .version(__BANYAN_VERSION__, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .showSuggestionAfterError()
    .enablePositionalOptions();
  let code = 0;
  const wanted = process.argv.slice(2).filter((word) => !word.startsWith("-"));
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const isWanted = name === wanted[0] || (wanted[0] === "help" && name === wanted[1]);
    const finished = (result: number): void => {
      code = result;
    };
    program.addCommand(isWanted ? (await load())(finished) : new Command(name).description(summary));
  }
  program.addHelpText("after", "\nExample:\n  banyan run -n 4 --nodes 2 examples/pi.ts");
  for (const command of [program, ...program.commands]) {
    // Commander would report a mistake in several lines; Banyan's report is one line, written below.
    command.exitOverride().configureOutput({ outputError: () => {} });
  }
  try {
    checkBefore(wanted);
    await program.parseAsync(process.argv);
    return code;
  } catch (error) {
    return explain(error, program);
  }
}

/** Mistakes that Commander, or Node, would answer with a page of text. */
function checkBefore(words: readonly string[]): void {
  const [first, second] = words;
  if (first === "help" && second !== undefined && second !== "help" && !Object.hasOwn(commands, second))
    throw new UsageError(`Cannot understand the command: unknown command '${second}'; see banyan --help`);
  try {
    process.cwd();
  } catch {
    throw new CommandError("Cannot work here: the current folder does not exist any more; change to another", 1);
  }
}

/** The exit code when the command did not begin; 2 stands for a mistake in the call. */
function explain(error: unknown, program: Command): number {
  if (error instanceof CommandError) {
    complain(error.message);
    return error.exitCode;
  }
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) return 0;
  if (error.code === "commander.help") return program.args.length === 0 ? 2 : 0;
  const [word = ""] = process.argv.slice(2);
  const name = Object.hasOwn(commands, word) ? `banyan ${word}` : "banyan";
  const what = error.message
    .replace(/^error: /, "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");
  const isProgram = error.code === "commander.unknownCommand" && existsSync(word);
  const hint = isProgram ? `did you mean banyan run ${shellWord(word)}?` : `see ${name} --help`;
  complain(`Cannot understand the command: ${what}; ${hint}`);
  return 2;
}

void main().then((code) => {
  // Handles that are still open (mostly standard input) must not keep the command alive.
  process.stderr.write("", () => process.exit(code));
});
