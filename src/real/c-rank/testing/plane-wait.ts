/** A wait of a data plane in a test: the rank stops in it whenever the test wants it to, and goes on when the test lets it. */
import { type PlaneWaitPort, Sight } from "../../data-plane/plane-wait-port.ts";

interface PlaneWaitOptions {
  /** Does the rank stop in this wait? If not, its engine waits. */
  stops(): boolean;
  unwind(): void;
  rewound(): void;
}

const nothing = (): number => Sight.NOTHING;

export class PlaneWait implements PlaneWaitPort {
  readonly waitForMessage: () => number;
  readonly waitAtGate: () => number;
  readonly rewound: () => number;
  #forMessage = nothing;
  #atGate = nothing;
  /** Null: none is under way. */
  #look: (() => number) | null = null;
  #seen: number = Sight.NOTHING;

  constructor({ stops, unwind, rewound }: PlaneWaitOptions) {
    const wait = (look: () => number): number => {
      if (!stops()) return 0;
      this.#look = look;
      this.#seen = Sight.NOTHING;
      unwind();
      return 2;
    };
    this.waitForMessage = () => wait(this.#forMessage);
    this.waitAtGate = () => wait(this.#atGate);
    this.rewound = () => {
      rewound();
      this.#look = null;
      return this.#seen === Sight.ENGINE ? 0 : 1;
    };
  }

  looks(forMessage: () => number, atGate: () => number): void {
    this.#forMessage = forMessage;
    this.#atGate = atGate;
  }

  get isUnderWay(): boolean {
    return this.#look !== null;
  }

  /** Is there anything for the plane or the engine to see to? */
  hasNews(): boolean {
    if (this.#seen !== Sight.ENGINE) this.#seen = this.#look!();
    return this.#seen !== Sight.NOTHING;
  }

  /** The engine shall wait. */
  leave(): void {
    this.#seen = Sight.ENGINE;
  }
}
