/**
 * The classes whose objects an image holds. A file that has such a class says so beside it:
 *
 *     saves({ WaitOn, Concluded });   // made anew when a process is restored
 *     lives({ Engine });              // there in every process; a restored one is filled with what the image holds
 *
 * Objects are saved field by field, so their fields are plain ones (never `#`), and neither functions nor anything of the
 * outside world. What must not be saved (caches, open things) is named by the class itself, with what a restored object
 * has instead:
 *
 *     static readonly unsaved = { board: null };
 *
 * A living object keeps its own functions, views of shared memory and unsaved fields.
 */
import { assert } from "./assert.ts";

export interface SavedClass {
  readonly name: string;
  readonly prototype: object;
  readonly lives: boolean;
  readonly unsaved: Readonly<Record<string, unknown>>;
}

type AnyClass = { readonly prototype: object; readonly unsaved?: Readonly<Record<string, unknown>> };

const byName = new Map<string, SavedClass>();
const byPrototype = new Map<object, SavedClass>();

function add(classes: Readonly<Record<string, AnyClass>>, isLiving: boolean): void {
  for (const [name, { prototype, unsaved = {} }] of Object.entries(classes)) {
    const known = byName.get(name);
    assert(known === undefined || known.prototype === prototype, `two classes that are saved are called ${name}`);
    const saved = { name, prototype, lives: isLiving, unsaved };
    byName.set(name, saved);
    byPrototype.set(prototype, saved);
  }
}

export function saves(classes: Readonly<Record<string, AnyClass>>): void {
  add(classes, false);
}

export function lives(classes: Readonly<Record<string, AnyClass>>): void {
  add(classes, true);
}

export const savedClassOf = (object: object): SavedClass | undefined => byPrototype.get(Object.getPrototypeOf(object));
export const savedClassNamed = (name: string): SavedClass | undefined => byName.get(name);
