/** An interval by PostgreSQL's fields; all three are needed. */
export interface Interval {
  months: number | bigint;
  days: number | bigint;
  microseconds: number | bigint;
}

/** What a filter may be asked for. Which of these depends on its family. */
export type Element = number | bigint | string | boolean | Uint8Array | ArrayBuffer | Date | Interval;

export type Family =
  | 'none'
  | 'integer'
  | 'text'
  | 'bytea'
  | 'uuid'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'timestamptz'
  | 'float'
  | 'other'
  | 'inet'
  | 'macaddr'
  | 'macaddr8'
  | 'numeric'
  | 'time'
  | 'interval';

/** The filter cannot contain elements of this type or range. */
export class ElementError extends TypeError {}

/** These are not the complete, unaltered bytes of a filter. */
export class InvalidImage extends Error {}

/** A filter that is read only. In memory a bucket takes 16 bytes. */
export class CuckooFilter {
  private constructor();

  /**
   * The filter of an image, or of PostgreSQL's text form as a string or bytes.
   * It is asynchronous because the hash function is. Rejects with InvalidImage.
   */
  static load(image: Uint8Array | ArrayBuffer | string): Promise<CuckooFilter>;

  readonly family: Family;
  readonly items: number;

  /** For cf_hash(v, seed), which has the same sign. */
  readonly seed: bigint;
  readonly m0: number;
  readonly f0: number;
  readonly g: number;
  readonly windows: boolean;

  /** The probability that an absent element is a false positive. */
  readonly fpp: number;

  /** A copy of the image. */
  readonly image: Uint8Array;

  /** Is the value in the filter? false: certainly not. true: it is, or it is a false positive. */
  contains(value: Element): boolean;

  /** The copies of the value: 0, 1, or 2 for two or more. */
  count(value: Element): number;

  /** The same for the element with this cf_hash, as a bigint or in decimal. What is no hash is an ElementError. */
  containsHash(hash: bigint | string): boolean;
  countHash(hash: bigint | string): number;

  /** The text form of PostgreSQL. */
  toString(): string;

  /** JSON and node-postgres take a filter as text. */
  toJSON(): string;
  toPostgres(): string;
}
