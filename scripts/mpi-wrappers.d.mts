/** A function as include/mpi.h declares it; each parameter is its text, the last one `...` if it is variadic. */
export interface Prototype {
  readonly name: string;
  readonly result: string;
  readonly parameters: readonly string[];
}

export function prototypesIn(text: string, word?: string): Prototype[];
export function declaredFunctions(): Prototype[];
export function importedFunctions(): Prototype[];
export function signatureOf(prototype: Prototype): string;
export function wrappersSource(functions: readonly Prototype[]): string;
export function generate(folder: string): void;
