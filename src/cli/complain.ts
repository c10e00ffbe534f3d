/** Messages of Banyan itself: standard error, one line for each. Standard output belongs to the program. */
export function complain(message: string): void {
  process.stderr.write(`banyan: ${message}\n`);
}

/** The command cannot do its work; the message is the line to print. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command was called in a wrong way. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  constructor(message: string) {
    super(message, 2);
  }
}
