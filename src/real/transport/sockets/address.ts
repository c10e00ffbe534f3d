/** A place to connect to. */
export interface Address {
  readonly host: string;
  readonly port: number;
}
