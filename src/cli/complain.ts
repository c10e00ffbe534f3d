/** Our own voice: standard error, one line for each thing to say. Standard output belongs to the program. */
export function complain(message: string): void {
  process.stderr.write(`banyan: ${message}\n`);
}

/** The command was called in a way it cannot follow; its message is the line to print, the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly exitCode = 2;
}
