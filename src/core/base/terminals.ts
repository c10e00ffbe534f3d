/** Which standard streams of a job are a terminal, as its program is told. The same in every life of a rank. */
export interface Terminals {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export const noTerminals: Terminals = { stdin: false, stdout: false, stderr: false };
