/** Our own voice: standard error, one line for each thing to say. Standard output belongs to the program. */
export function complain(message: string): void {
  process.stderr.write(`banyan: ${message}\n`);
}

/** The command cannot do what it was asked for; its message is the line to print. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** It was called in a way it cannot follow. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  constructor(message: string) {
    super(message, 2);
  }
}
